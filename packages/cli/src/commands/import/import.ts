import { ApiProblem, litellmImport, type SourceGateway } from "@fairway/wire";
import { statSync } from "node:fs";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { isForPeople, printList, type Output } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";
import type { Transport } from "../../session/transport.ts";
import { readTextFile } from "../../terminal/prompt.ts";
import type { SourceFlags } from "./compatible.ts";

const FILE_KINDS = ["litellm", "litellm-yaml", "bifrost"] as const;
type FileKind = (typeof FILE_KINDS)[number];

function isFileKind(from: ImportFlags["from"]): from is FileKind {
  return FILE_KINDS.some((kind) => kind === from);
}

export interface ImportFlags extends SourceFlags {
  readonly from: FileKind | SourceGateway;
  readonly priceFromUpstream?: boolean;
  readonly priceFrom?: string;
  readonly mapGroup?: readonly string[];
}

interface ImportOptions extends ImportFlags {
  readonly isDry: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowSeconds: number;
  /** How calls of the other gateway are sent. */
  transport(): Promise<Transport>;
}

interface Line {
  readonly line: string;
}

/**
 * Prints what was created, then a line for everything that was left out. `place` is a file, or the address of a
 * gateway.
 */
export async function importAny(
  client: SessionClient,
  place: string,
  options: ImportOptions,
  output: Output,
): Promise<void> {
  checkFlags(options);
  const { from, isDry } = options;
  const lines = isFileKind(from)
    ? await importConfig(client, place, options)
    : await importServer(client, place, { ...options, kind: from });
  if (isForPeople(output)) for (const line of lines) output.out(line);
  else {
    const rows = lines.map((line) => ({ line }));
    await printList(output, { kind: "ImportLine", columns: [plain<Line>("LINE", "line")], rows, empty: "" });
  }
  output.note(isDry ? "Nothing was changed: --dry-run." : "Done. A second import leaves what is here as it is.");
}

const OF_SERVERS = ["tokenStdin", "userId", "insecureHttp", "channelKeys", "only"] as const;
const OF_FILES = ["priceFrom"] as const;

/** Refuses flags that have no effect, which would hide a mistake. */
function checkFlags(options: ImportOptions): void {
  const isFile = isFileKind(options.from);
  const wrong = (isFile ? OF_SERVERS : OF_FILES).find((one) => options[one] !== undefined);
  if (wrong === undefined) return;
  const flag = `--${wrong.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new CliError(
    `${flag} does not go with --from ${options.from}`,
    EXIT.usage,
    isFile
      ? "it is for running gateways"
      : "prices of this gateway are among its options; --price-from-upstream asks its channels",
  );
}

async function importServer(
  target: SessionClient,
  server: string,
  { mapGroup = [], transport, priceFromUpstream = false, ...options }: ImportOptions & { readonly kind: SourceGateway },
): Promise<string[]> {
  if (isThere(server))
    throw new CliError(
      `--from ${options.kind} reads a running gateway, and ${server} is a file`,
      EXIT.usage,
      `write its address; \`fairway-gateway import --from ${options.kind} --database URL\` reads its database`,
    );
  const { importCompatible } = await import("./compatible.ts");
  return importCompatible({
    ...options,
    priceFromUpstream,
    server,
    target,
    groups: groupsIn(mapGroup),
    transport: await transport(),
  });
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Takes the variables that the file names from the caller's environment. */
async function importConfig(
  client: SessionClient,
  path: string,
  { isDry, env, priceFromUpstream = false, priceFrom, mapGroup = [] }: ImportOptions,
): Promise<string[]> {
  const body = {
    groups: groupsIn(mapGroup),
    price_from_upstream: priceFromUpstream,
    ...(priceFrom === undefined ? {} : { price_from: addressIn(priceFrom) }),
    dry_run: isDry,
  };
  const config = readTextFile(path, "import");
  try {
    const { data } = await client.call(litellmImport, {
      body: { config, variables: pickVariables(config, env), ...body },
    });
    return data;
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.key !== "document_invalid") throw error;
    throw new CliError(`${path}: ${error.message}`, EXIT.usage);
  }
}

function groupsIn(pairs: readonly string[]): Record<string, string> {
  const names: Record<string, string> = {};
  for (const pair of pairs) {
    const [, old, name] = /^([^=]+)=([^=]+)$/.exec(pair) ?? [];
    if (old === undefined || name === undefined)
      throw new CliError(`--map-group takes old=new, not ${pair}`, EXIT.usage, "such as --map-group default=staff");
    names[old] = name;
  }
  return names;
}

function addressIn(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new CliError(
    `--price-from takes the address of a gateway, not ${text}`,
    EXIT.usage,
    "such as --price-from https://litellm.example.com",
  );
}

/** Picks only the variables that the file names; the report lists unset ones. */
function pickVariables(config: string, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found = config.matchAll(/os\.environ\/([A-Za-z_][A-Za-z0-9_]*)|\benv\.([A-Za-z_][A-Za-z0-9_]*)/g);
  const names = [...found].map(([, litellm, bifrost = ""]) => litellm ?? bifrost);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
