// `npm run check`: every id of the console's inventory appears in the title of a test.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";

/** A short description of each id. */
export type Inventory = Readonly<Record<string, string>>;

/** Test files by path, with their text. */
export type TestFiles = ReadonlyMap<string, string>;

/** Returns the ids that test files name, in titles or in the table of cases that titles are filled from. */
function namedIds(files: TestFiles): ReadonlySet<string> {
  return new Set([...files.values()].flatMap((text) => text.match(/C-\d{3}/g) ?? []));
}

/** Returns the problems of the inventory, one line each. */
export function findings(ids: Inventory, files: TestFiles): string[] {
  const named = namedIds(files);
  const untested = Object.keys(ids).filter((id) => !named.has(id));
  const unknown = [...named].filter((id) => !(id in ids));
  return [
    ...untested.map((id) => `${id} (${ids[id]}) has no test: name it in the title of one`),
    ...unknown.map((id) => `${id} is no id of the inventory`),
  ];
}

export function readInventory(): Inventory {
  return JSON.parse(readFileSync(join(import.meta.dirname, "ids.json"), "utf8")) as Inventory;
}

export function readTestFiles(): TestFiles {
  const files = globSync(["packages/console/e2e/**/*.test.ts", "packages/console/src/**/*.test.{ts,tsx}"], {
    cwd: ROOT,
  });
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
}

if (import.meta.main) {
  const inventory = readInventory();
  const lines = findings(inventory, readTestFiles());
  for (const line of lines) console.log(line);
  const count = Object.keys(inventory).length;
  console.log(`${count - lines.length} of ${count} ids of the console have a test`);
  if (lines.length > 0) process.exitCode = 1;
}
