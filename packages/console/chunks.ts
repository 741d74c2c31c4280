import { build, type InlineConfig, type Rolldown } from "vite";

/** Pages that have much in common, and the file that they share. */
const FAMILIES = {
  lists: [
    "channels",
    "tokens",
    "users",
    "redemptions",
    "budgets",
    "audit",
    "tasks",
    "batches",
    "files",
    "drawing",
    "logs",
    "pricing",
  ],
  account: ["login", "oauth", "register", "reset", "settings"],
  content: ["about", "chat", "chat-link", "home", "join", "playground"],
  usage: ["home", "dashboard", "compare", "reports", "channel", "token", "user", "budget"],
} as const;

/** Modules that at least this many lists need are loaded with the first list. */
const MAX_LISTS = 3;
/** Modules that at least this many pages of other kinds need share a file, too; most are fields. */
const MAX_PAGES = 9;
/** Below this many characters (before minifying), a request costs more than the bytes. */
const TINY = 1_500;

type Chunk = Rolldown.OutputChunk;

/** Returns the name of the page whose code a chunk begins with; undefined for drawers, dialogs and shared code. */
function findPageName({ facadeModuleId }: Chunk): string | undefined {
  const file = facadeModuleId?.slice(facadeModuleId.lastIndexOf("/") + 1);
  return file === "frame.tsx" ? "frame" : /^(.+)\.page\.tsx$/.exec(file ?? "")?.[1];
}

/** Returns a chunk and everything that it imports statically. */
function collectImports(chunk: Chunk, chunks: ReadonlyMap<string, Chunk>, seen = new Set<Chunk>()): Set<Chunk> {
  if (seen.has(chunk)) return seen;
  seen.add(chunk);
  for (const file of chunk.imports) {
    const next = chunks.get(file);
    if (next) collectImports(next, chunks, seen);
  }
  return seen;
}

interface Users {
  readonly pages: Set<string>;
  /** Drawers, dialogs and other code that loads on demand. */
  readonly others: Set<string>;
}

/** Returns true for chunks that contain only calls of the gateway: each page needs those of a few subjects. */
function isContract({ moduleIds }: Chunk): boolean {
  return moduleIds.every((id) => id.includes("/packages/wire/"));
}

/** Counts these pages that belong to a family. */
function inFamily(pages: ReadonlySet<string>, name: keyof typeof FAMILIES): number {
  const family: readonly string[] = FAMILIES[name];
  return [...pages].filter((page) => family.includes(page)).length;
}

/** Returns true for the texts of failures: the log needs them without the plots of the other pages that use them. */
function isFailures({ moduleIds }: Chunk): boolean {
  return moduleIds.every((id) => id.includes("/shared/failures/"));
}

/** Returns true for fields of forms: lists load the other parts of drawers while they are idle, but no fields. */
function isField({ moduleIds }: Chunk): boolean {
  return moduleIds.every((id) => id.includes("/ui/form/"));
}

function nameFor(chunk: Chunk, { pages, others }: Users): string | null {
  if (isFailures(chunk)) return "failures";
  const [only] = pages;
  if (only === undefined) return others.size < 2 ? null : isField(chunk) ? "forms" : "overlays";
  const lists = inFamily(pages, "lists");
  if (pages.has("frame") || lists >= MAX_LISTS) return "lists";
  return pages.size === 1 ? `${only}.page` : sharedName(chunk, pages, lists);
}

function sharedName(chunk: Chunk, pages: ReadonlySet<string>, lists: number): string | null {
  const family = (["account", "content"] as const).find((name) => inFamily(pages, name) === pages.size);
  if (family) return family;
  if (!isContract(chunk) || chunk.code.length < TINY) {
    // A single list that needs more than a field would load all fields with it.
    if (pages.size >= MAX_PAGES && (lists === 0 || (lists === 1 && isField(chunk)))) return "forms";
    if (inFamily(pages, "usage") > 1 && lists === 0) return "usage";
  }
  return chunk.code.length < TINY && lists > 0 ? "lists" : null;
}

/**
 * Decides which modules share a file. A first build finds what each page needs. It has one file for each set of pages,
 * which would mean fifty requests for a page, most of them below a kilobyte.
 */
export async function planChunks(config: InlineConfig): Promise<(id: string) => string | null> {
  const result = await build({
    ...config,
    configFile: false,
    logLevel: "silent",
    build: { ...config.build, write: false, minify: false, reportCompressedSize: false },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput;
  const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
  const users = new Map(
    [...chunks.values()].map((chunk) => [chunk, { pages: new Set<string>(), others: new Set<string>() }]),
  );
  for (const entry of chunks.values()) {
    if (!entry.isDynamicEntry) continue;
    const page = findPageName(entry);
    for (const chunk of collectImports(entry, chunks)) {
      if (page === undefined) users.get(chunk)?.others.add(entry.fileName);
      else users.get(chunk)?.pages.add(page);
    }
  }
  const files = new Map([...users].map(([chunk, use]) => [chunk, nameFor(chunk, use)]));
  for (const layer of LAYERS.keys()) bringDown(files, chunks, layer);
  const names = new Map<string, string | null>();
  for (const [chunk, name] of files)
    for (const id of chunk.moduleIds) names.set(id, id.endsWith("/locale/zh.ts") ? "zh" : name);
  return (id) => names.get(id) ?? null;
}

/** Shared files from the bottom up: a file imports those below it. */
const LAYERS = ["lists", "failures", "forms", "usage", "account", "content"] as const;

/** Returns true for what lies in the files below, and for calls of the gateway that import nothing from above these. */
function isLower(
  chunk: Chunk,
  files: ReadonlyMap<Chunk, string | null>,
  chunks: ReadonlyMap<string, Chunk>,
  below: readonly string[],
): boolean {
  return [...collectImports(chunk, chunks)].every((needed) => {
    const file = files.get(needed) ?? null;
    return file === null ? isContract(needed) : below.includes(file);
  });
}

/**
 * Moves the imports of a shared chunk into it or below it, because two chunks that import each other break the page.
 * Calls of the gateway stay apart where they can, so that a page that makes them does not load all that shares a file.
 */
function bringDown(files: Map<Chunk, string | null>, chunks: ReadonlyMap<string, Chunk>, layer: number): void {
  const name = LAYERS[layer] ?? null;
  const below = LAYERS.slice(0, layer);
  for (const [chunk, file] of files) {
    if (file !== name) continue;
    for (const needed of collectImports(chunk, chunks))
      if (!isLower(needed, files, chunks, below)) files.set(needed, name);
  }
}
