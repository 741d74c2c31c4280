import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import * as wire from "../../packages/wire/src/index.ts";
import { code, page, table } from "./markdown.ts";

const TESTS = ["packages/gateway/src/**/*.test.ts", "packages/gateway/test/**/*.test.ts"];
/** Files with the most calls of a path come first; more than this would not fit in a line. */
const SHOWN = 2;

interface TestFile {
  readonly name: string;
  /** The text, with the constants of addresses filled in. */
  readonly text: string;
}

/** Lists which test sends which call. */
export function callTests(): string {
  const files = TESTS.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .toSorted()
    .map(readTest);
  const rows = Object.values<unknown>(wire)
    .filter(isEndpoint)
    .toSorted((a, b) => (a.path === b.path ? compare(a.method, b.method) : compare(a.path, b.path)))
    .map((endpoint) => [code(`${endpoint.method} ${endpoint.path}`), findTests(endpoint, files).map(code).join(", ")]);
  return page(
    "Calls and their tests",
    "packages/wire and the tests of packages/gateway",
    "Every call of the management API with tests that send it over HTTP. The whole API is described for machines under `GET /api/openapi.json` (OpenAPI 3.1).",
    table(["Call", "Test"], rows),
  );
}

/** Lists of calls that several tests send. */
const CALLS = /from "([^"]+\/kit\/[\w-]+-calls\.ts)"/g;

function readTest(name: string): TestFile {
  const own = readFileSync(join(ROOT, name), "utf8");
  const lists = [...own.matchAll(CALLS)].map(([, path = ""]) => join(ROOT, dirname(name), path));
  const text = [own, ...lists.map((path) => readFileSync(path, "utf8"))].join("\n");
  const constants = [...text.matchAll(/const (\w+) = "(\/api\/[^"]*)"/g)];
  const filled = constants.reduce((all, [, constant = "", path = ""]) => {
    return all
      .replaceAll(`\${${constant}}`, path)
      .replaceAll(`(${constant},`, `("${path}",`)
      .replaceAll(`(${constant})`, `("${path}")`);
  }, text);
  return { name: name.replace(/^packages\/gateway\//, ""), text: filled };
}

function findTests({ path }: wire.Endpoint, files: readonly TestFile[]): string[] {
  const pattern = path
    .replace(/\/$/, "")
    .split(/(\{\w+\})/)
    .map((part) =>
      part.startsWith("{") ? `(?:\\$\\{[^}]+\\}|${part === "{id}" ? "\\d+" : "[\\w%.-]+"})` : RegExp.escape(part),
    )
    .join("");
  const sent = new RegExp(`${pattern}/?(?=["'\`?])`, "g");
  return files
    .map(({ name, text }) => ({ name, count: [...text.matchAll(sent)].length }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, SHOWN)
    .map(({ name }) => name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isEndpoint(value: unknown): value is wire.Endpoint {
  return typeof value === "object" && value !== null && "method" in value && "access" in value && "summary" in value;
}
