// Which folder of `packages/gateway/src` may import which: imports point down. The linter's configuration is made
// from this table, and `layers.test.ts` plants a forbidden import for every folder to see it refused.

const BASE = ["lib", "config", "observability", "storage", "redis"];
const MIDDLE = [...BASE, "dialects", "providers", "billing", "limits", "identity", "snapshot"];

/** Folder -> the other folders that it may import. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  config: ["lib"],
  observability: ["lib"],
  storage: ["lib", "observability"],
  redis: ["lib", "observability"],
  dialects: ["lib"],
  providers: ["lib", "dialects"],
  billing: [...BASE, "dialects"],
  limits: BASE,
  snapshot: [...BASE, "dialects", "providers", "billing"],
  identity: [...BASE, "snapshot", "limits"],
  relay: MIDDLE,
  tasks: [...MIDDLE, "relay"],
  http: MIDDLE,
  resources: [...MIDDLE, "relay", "tasks", "http"],
  jobs: [...MIDDLE, "relay", "tasks", "http"],
  demo: [...MIDDLE, "http", "resources"],
  composition: [...MIDDLE, "relay", "tasks", "http", "resources", "jobs", "demo"],
  commands: [...MIDDLE, "relay", "tasks", "http", "resources", "jobs", "composition"],
  workers: ["config", "observability", "composition"],
};

/** npm packages that one folder owns; the rest of the gateway reaches them through it. */
export const OWNED_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  mysql2: ["storage"],
  pg: ["storage"],
  "node:sqlite": ["storage"],
  kysely: [
    "storage",
    "billing",
    "identity",
    "snapshot",
    "relay",
    "tasks",
    "resources",
    "jobs",
    "composition",
    "commands",
  ],
  ioredis: ["redis"],
  express: ["http"],
  undici: ["relay", "tasks", "providers", "lib"],
  "prom-client": ["observability"],
};

interface ImportPattern {
  readonly regex: string;
  readonly message: string;
}

const MAX_DEPTH = 5;

/** Patterns for files that stand `depth` folders below `src`, in `folder`. */
export function forbiddenImports(folder: string, depth: number): ImportPattern[] {
  const allowed = LAYERS[folder] ?? [];
  const forbidden = [
    ...Object.keys(LAYERS).filter((other) => other !== folder && !allowed.includes(other)),
    "main\\.ts",
  ];
  const up = "\\.\\./".repeat(depth);
  const packages = Object.keys(OWNED_PACKAGES).filter((name) => !OWNED_PACKAGES[name]?.includes(folder));
  return [
    {
      regex: `^${up}(?:${forbidden.join("|")})(?:/|$)`,
      message: `${folder}/ may import ${allowed.length === 0 ? "no other folder" : allowed.join(", ")} only (scripts/layers.ts)`,
    },
    ...(packages.length > 0
      ? [
          {
            regex: `^(?:${packages.join("|")})(?:/|$)`,
            message: "another folder owns this package (scripts/layers.ts)",
          },
        ]
      : []),
  ];
}

/** The depth-wise globs of a folder with their patterns. */
export function layerRules(): { files: string; patterns: ImportPattern[] }[] {
  return Object.keys(LAYERS).flatMap((folder) =>
    Array.from({ length: MAX_DEPTH }, (_, index) => ({
      files: `packages/gateway/src/${folder}/${"*/".repeat(index)}*.ts`,
      patterns: forbiddenImports(folder, index + 1),
    })),
  );
}
