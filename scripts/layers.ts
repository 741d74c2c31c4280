// Which folder of a package may import which: imports point down. The linter reads these tables, and `layers.test.ts`
// plants a forbidden import in every folder to check that the linter refuses it.

const BASE = ["lib", "config", "observability", "storage", "redis", "events"];
const MIDDLE = [...BASE, "dialects", "providers", "billing", "limits", "identity", "snapshot", "teams"];

/** A folder below `src` -> the other folders that it may import. */
type Layers = Readonly<Record<string, readonly string[]>>;

/** `packages/gateway/src` */
export const LAYERS: Layers = {
  lib: [],
  config: ["lib"],
  observability: ["lib"],
  storage: ["lib", "observability"],
  redis: ["lib", "observability"],
  events: ["lib", "observability", "storage"],
  dialects: ["lib"],
  providers: ["lib", "dialects"],
  billing: [...BASE, "dialects"],
  limits: BASE,
  snapshot: [...BASE, "dialects", "providers", "billing"],
  teams: BASE,
  identity: [...BASE, "snapshot", "limits", "teams"],
  relay: MIDDLE,
  tasks: [...MIDDLE, "relay"],
  objects: [...MIDDLE, "relay"],
  batches: [...MIDDLE, "relay", "objects"],
  caches: [...MIDDLE, "relay", "objects"],
  containers: [...MIDDLE, "relay", "objects"],
  webhooks: MIDDLE,
  http: MIDDLE,
  resources: [...MIDDLE, "relay", "tasks", "objects", "batches", "caches", "webhooks", "http"],
  jobs: [...MIDDLE, "relay", "tasks", "objects", "batches", "webhooks", "http"],
  kubernetes: [...MIDDLE, "resources", "jobs"],
  demo: [...MIDDLE, "http", "resources"],
  composition: [
    ...MIDDLE,
    "relay",
    "tasks",
    "objects",
    "batches",
    "caches",
    "containers",
    "webhooks",
    "http",
    "resources",
    "jobs",
    "kubernetes",
    "demo",
  ],
  commands: [...MIDDLE, "relay", "tasks", "objects", "batches", "webhooks", "http", "resources", "jobs", "composition"],
  workers: ["config", "observability", "composition"],
};

/** `packages/console/src`; `sources.test.ts` there also refuses imports between features. */
export const CONSOLE_LAYERS: Layers = {
  lib: [],
  theme: ["lib"],
  session: ["lib"],
  ui: ["lib", "theme", "session"],
  shared: ["lib", "theme", "session", "ui"],
  features: ["lib", "theme", "session", "ui", "shared"],
  routes: ["lib", "theme", "session", "ui", "shared", "features"],
};

/** npm packages that one folder of the gateway owns; the other folders reach them through it. */
export const OWNED_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  mysql2: ["storage"],
  pg: ["storage"],
  "node:sqlite": ["storage"],
  "@clickhouse/client": ["storage"],
  kysely: [
    "storage",
    "events",
    "teams",
    "billing",
    "identity",
    "snapshot",
    "relay",
    "tasks",
    "batches",
    "caches",
    "webhooks",
    "resources",
    "jobs",
    "composition",
    "commands",
  ],
  ioredis: ["redis"],
  "openid-client": ["identity"],
  jose: ["identity"],
  express: ["http"],
  undici: ["relay", "tasks", "providers", "lib", "kubernetes"],
  "@kubernetes/client-node": ["kubernetes"],
  "prom-client": ["observability"],
  "@opentelemetry/api": ["observability"],
  "@opentelemetry/sdk-trace": ["observability"],
};

/** The `core/` of these folders contains what the folders next to it share, and imports none of them. */
const WITH_CORE = ["dialects", "providers"];

interface ImportPattern {
  readonly regex: string;
  readonly message: string;
}

const MAX_DEPTH = 5;

interface Source {
  /** Folder below `src`. */
  readonly folder: string;
  /** Folders between the file and `src`. */
  readonly depth: number;
}

/** Returns the patterns that the linter refuses in the files of one folder. */
function forbiddenImports(layers: Layers, { folder, depth }: Source): ImportPattern[] {
  const allowed = layers[folder] ?? [];
  const forbidden = [
    ...Object.keys(layers).filter((other) => other !== folder && !allowed.includes(other)),
    "main\\.tsx?",
  ];
  const names = allowed.length === 0 ? "no other folder" : allowed.join(", ");
  return [
    {
      regex: `^${"\\.\\./".repeat(depth)}(?:${forbidden.join("|")})(?:/|$)`,
      message: `${folder}/ may import ${names} only (scripts/layers.ts)`,
    },
  ];
}

function forbiddenPackages(folder: string): ImportPattern[] {
  const packages = Object.keys(OWNED_PACKAGES).filter((name) => !OWNED_PACKAGES[name]?.includes(folder));
  return packages.length === 0
    ? []
    : [
        {
          regex: `^(?:${packages.join("|")})(?:/|$)`,
          message: "another folder owns this package (scripts/layers.ts)",
        },
      ];
}

/** Returns one glob for each depth of each folder, with the imports refused there. */
export function layerRules(): { files: string; patterns: ImportPattern[] }[] {
  return [
    ...buildRules("packages/gateway/src", LAYERS, forbiddenPackages),
    ...WITH_CORE.flatMap(coreRules),
    ...buildRules("packages/console/src", CONSOLE_LAYERS, () => []),
  ];
}

function buildRules(src: string, layers: Layers, morePatterns: (folder: string) => ImportPattern[]) {
  return Object.keys(layers).flatMap((folder) =>
    Array.from({ length: MAX_DEPTH }, (_, index) => ({
      files: `${src}/${folder}/${"*/".repeat(index)}*.{ts,tsx}`,
      patterns: [...forbiddenImports(layers, { folder, depth: index + 1 }), ...morePatterns(folder)],
    })),
  );
}

/**
 * These follow the rules of the whole folder and repeat them, because the linter uses the last rules that match a file.
 */
function coreRules(folder: string) {
  return Array.from({ length: MAX_DEPTH - 1 }, (_, index) => ({
    files: `packages/gateway/src/${folder}/core/${"*/".repeat(index)}*.ts`,
    patterns: [
      ...forbiddenImports(LAYERS, { folder, depth: index + 2 }),
      ...forbiddenPackages(folder),
      {
        regex: `^${"\\.\\./".repeat(index + 1)}[^.]`,
        message: `${folder}/core/ imports no folder next to it (scripts/layers.ts)`,
      },
    ],
  }));
}
