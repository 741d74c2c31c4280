import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONSOLE_LAYERS, LAYERS } from "./layers.ts";

// A temporary tree with one violation per file, linted once with the real rules.

const ROOT = join(import.meta.dirname, "..");
const SRC = "packages/gateway/src";
const CONSOLE = "packages/console/src";
const TABLES = [
  [SRC, LAYERS],
  [CONSOLE, CONSOLE_LAYERS],
] as const;
const forbiddenPairs = TABLES.flatMap(([src, layers]) =>
  Object.keys(layers).flatMap((folder) =>
    Object.keys(layers)
      .filter((other) => other !== folder && !layers[folder]?.includes(other))
      .map((other) => [`${src}/${folder}`, other] as const),
  ),
);
const allowedPairs = TABLES.flatMap(([src, layers]) =>
  Object.entries(layers).flatMap(([folder, others]) => others.map((other) => [`${src}/${folder}`, other] as const)),
);

const filler = (lines: number) => Array.from({ length: lines }, (_, i) => `export const v${i} = ${i};`).join("\n");

const BANS: readonly (readonly [what: string, file: string, text: string, rule: string])[] = [
  [
    "global fetch",
    `${SRC}/relay/planted-fetch.ts`,
    "export const call = () => fetch('http://x');",
    "no-restricted-globals",
  ],
  [
    "process.env",
    `${SRC}/relay/planted-env.ts`,
    "export const home = process.env['HOME'];",
    "no-restricted-properties",
  ],
  [
    "process.exit",
    `${SRC}/jobs/planted-exit.ts`,
    "export const end = () => process.exit(1);",
    "no-restricted-properties",
  ],
  ["Date.now", `${SRC}/billing/planted-now.ts`, "export const at = () => Date.now();", "no-restricted-properties"],
  ["console", `${SRC}/http/planted-console.ts`, "export const say = () => console.log('x');", "no-console"],
  ["a default export", `${SRC}/lib/planted-default.ts`, "export default 1;", "no-default-export"],
  ["a file name that is not kebab-case", `${SRC}/lib/plantedName.ts`, "export const a = 1;", "filename-case"],
  ["a long file", `${SRC}/lib/planted-long.ts`, filler(401), "max-lines"],
  [
    "a long function",
    `${SRC}/lib/planted-function.ts`,
    `export function f() {\n${"  f();\n".repeat(61)}}`,
    "max-lines-per-function",
  ],
  [
    "five parameters",
    `${SRC}/lib/planted-params.ts`,
    "export const f = (a: 1, b: 1, c: 1, d: 1, e: 1) => [a, b, c, d, e];",
    "max-params",
  ],
  [
    "a maze",
    `${SRC}/lib/planted-maze.ts`,
    `export function f(a: number) {\n${Array.from({ length: 13 }, (_, i) => `  if (a === ${i}) return ${i};`).join("\n")}\n  return -1;\n}`,
    "complexity",
  ],
  ["any", `${SRC}/lib/planted-any.ts`, "export const f = (a: any) => String(a);", "no-explicit-any"],
  [
    "a driver outside storage",
    `${SRC}/relay/planted-driver.ts`,
    'export { createPool } from "mysql2";',
    "no-restricted-imports",
  ],
  [
    "the test kit in product code",
    `${SRC}/relay/planted-kit.ts`,
    'export { startUpstream } from "@fairway/testkit";',
    "no-restricted-imports",
  ],
  [
    "a deep import across packages",
    `${SRC}/relay/planted-deep.ts`,
    'export { endpoint } from "@fairway/wire/src/endpoint.ts";',
    "no-restricted-imports",
  ],
  [
    "a path across packages",
    `${SRC}/relay/planted-path.ts`,
    'export { endpoint } from "../../../wire/src/endpoint.ts";',
    "no-restricted-imports",
  ],
  [
    "the server in the console",
    "packages/console/src/planted.ts",
    'export { app } from "@fairway/gateway";',
    "no-restricted-imports",
  ],
  [
    "the server in the command line",
    "packages/cli/src/planted.ts",
    'export { app } from "@fairway/gateway";',
    "no-restricted-imports",
  ],
  [
    "Node in the contract",
    "packages/wire/src/planted.ts",
    'export { join } from "node:path";',
    "no-restricted-imports",
  ],
  [
    "a vendor in what all vendors share",
    `${SRC}/providers/core/planted-vendor.ts`,
    'export { acme } from "../vendors/acme/acme.ts";',
    "no-restricted-imports",
  ],
  [
    "a dialect in what all dialects share",
    `${SRC}/dialects/core/deep/planted-dialect.ts`,
    'export { meter } from "../../openai-chat/meter.ts";',
    "no-restricted-imports",
  ],
  [
    "a circle",
    `${SRC}/lib/planted-a.ts`,
    'import { b } from "./planted-b.ts";\nexport const a = (): unknown => b;',
    "no-cycle",
  ],
];

const DOWN_FROM_CORE: readonly (readonly [file: string, target: string])[] = [
  [`${SRC}/providers/core/to-lib.ts`, "../../lib/thing.ts"],
  [`${SRC}/providers/core/deep/to-core.ts`, "../thing.ts"],
  [`${SRC}/dialects/core/deep/to-lib.ts`, "../../../lib/thing.ts"],
];

interface Finding {
  readonly code: string;
  readonly filename: string;
}

let folder: string;
let findings: Finding[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-layers-"));
  const plant = async (file: string, text: string) => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `${text}\n`);
  };
  const config = `import real from ${JSON.stringify(join(ROOT, "oxlint.config.ts"))};\nexport default { ...real, options: {} };`;
  await plant("oxlint.config.ts", config);
  await plant(`${SRC}/lib/planted-b.ts`, 'import { a } from "./planted-a.ts";\nexport const b = (): unknown => a;');
  for (const [, file, text] of BANS) await plant(file, text);
  for (const [from, to] of forbiddenPairs) {
    await plant(`${from}/to-${to}.ts`, `export { thing } from "../${to}/thing.ts";`);
    await plant(`${from}/deep/to-${to}.ts`, `export { thing } from "../../${to}/thing.ts";`);
  }
  for (const [from, to] of allowedPairs)
    await plant(`${from}/down-to-${to}.ts`, `export { thing } from "../${to}/thing.ts";`);
  for (const [file, target] of DOWN_FROM_CORE) await plant(file, `export { thing } from "${target}";`);
  findings = await lint(folder);
}, 180_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

async function lint(cwd: string): Promise<Finding[]> {
  const oxlint = join(ROOT, "node_modules/oxlint/bin/oxlint");
  const output = await promisify(execFile)(process.execPath, [oxlint, "-f", "json", "--no-ignore"], {
    cwd,
    maxBuffer: 1e8,
  }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }));
  return (JSON.parse(output.stdout) as { diagnostics: Finding[] }).diagnostics;
}

const rulesOn = (file: string) =>
  findings.filter((finding) => finding.filename === file).map((finding) => finding.code);

describe("the linter refuses", () => {
  test.each(forbiddenPairs)("an import from %s to %s", (from, to) => {
    expect(rulesOn(`${from}/to-${to}.ts`)).toContain("eslint(no-restricted-imports)");
    expect(rulesOn(`${from}/deep/to-${to}.ts`)).toContain("eslint(no-restricted-imports)");
  });

  test.each(BANS)("%s", (_what, file, _text, rule) => {
    expect(rulesOn(file).join()).toContain(`(${rule})`);
  });
});

test("imports that point down pass", () => {
  const files = [
    ...allowedPairs.map(([from, to]) => `${from}/down-to-${to}.ts`),
    ...DOWN_FROM_CORE.map(([file]) => file),
  ];
  expect(files.filter((file) => rulesOn(file).length > 0)).toEqual([]);
});

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** Returns files by path with the files of the same package that they import, including types. */
function readImports(sources: readonly string[]): Map<string, string[]> {
  const paths = sources.flatMap((source) =>
    readdirSync(join(ROOT, source), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => join(ROOT, source, path)),
  );
  const known = new Set(paths);
  const listImports = (path: string) =>
    [...readFileSync(path, "utf8").matchAll(IMPORT)]
      .map(([, target = ""]) => resolve(dirname(path), target))
      .filter((target) => known.has(target));
  return new Map(paths.map((path) => [path, listImports(path)]));
}

/** Returns files that can reach themselves through imports. */
function findCycles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const reaches = (from: string): boolean => {
    const seen = new Set<string>();
    const open = [...(imports.get(from) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === from) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(imports.get(next) ?? []));
    }
    return false;
  };
  return [...imports.keys()].filter(reaches);
}

test("finds a cycle of type imports, and not the files that only lead to it", () => {
  const imports = new Map([
    ["entry", ["a"]],
    ["a", ["b", "leaf"]],
    ["b", ["a"]],
    ["leaf", []],
  ]);
  expect(findCycles(imports)).toEqual(["a", "b"]);
});

test("files of no package import each other in a cycle", () => {
  const packages = [...["gateway", "cli", "console", "wire"].map((name) => `packages/${name}/src`), "packages/testkit"];
  const cyclic = findCycles(readImports(packages)).map((path) => relative(ROOT, path));
  expect(cyclic).toEqual([]);
});
