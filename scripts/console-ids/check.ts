// `npm run check`: every id of the console's inventory has a test. An id is named in the title of one, or
// `covered.json` names the test that covers it. `open.json` lists the ids without a test; it may only shrink.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";

const FOLDER = import.meta.dirname;

/** Most ids that may be without a test: lower it together with the list. */
const MOST_OPEN = 74;

export interface Inventory {
  /** What each id is about. */
  readonly ids: Readonly<Record<string, string>>;
  readonly covered: Readonly<Record<string, { readonly file: string; readonly title: string }>>;
  readonly open: readonly string[];
  readonly mostOpen: number;
}

/** Test files by path, with their text. */
export type TestFiles = ReadonlyMap<string, string>;

/** The ids that test files name, in titles or in the table of cases that titles are filled from. */
function namedIds(files: TestFiles): ReadonlySet<string> {
  return new Set([...files.values()].flatMap((text) => text.match(/C-\d{3}/g) ?? []));
}

/** What is wrong with the inventory: one line each. */
export function findings(inventory: Inventory, files: TestFiles): string[] {
  const { ids, covered, open, mostOpen } = inventory;
  const named = namedIds(files);
  const hasTest = (id: string) => named.has(id) || id in covered;
  const lines = Object.keys(ids)
    .filter((id) => !hasTest(id) && !open.includes(id))
    .map((id) => `${id} (${ids[id]}) has no test: name it in the title of one`);
  for (const id of open) {
    if (hasTest(id)) lines.push(`${id} has a test: take it out of open.json`);
  }
  for (const id of new Set([...open, ...Object.keys(covered), ...named])) {
    if (!(id in ids)) lines.push(`${id} is no id of the inventory`);
  }
  for (const [id, { file, title }] of Object.entries(covered)) {
    if (!files.get(file)?.includes(title)) lines.push(`${id}: ${file} has no test “${title}”`);
  }
  if (open.length > mostOpen) lines.push(`open.json lists ${open.length} ids, and may list ${mostOpen} at most`);
  if (open.length < mostOpen) lines.push(`open.json lists ${open.length} ids: lower MOST_OPEN to that number`);
  return lines;
}

function json(name: string): unknown {
  return JSON.parse(readFileSync(join(FOLDER, name), "utf8"));
}

export function readInventory(): Inventory {
  return {
    ids: json("ids.json") as Inventory["ids"],
    covered: json("covered.json") as Inventory["covered"],
    open: json("open.json") as Inventory["open"],
    mostOpen: MOST_OPEN,
  };
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
  const count = Object.keys(inventory.ids).length;
  console.log(`${count - inventory.open.length} of ${count} ids of the console have a test`);
  if (lines.length > 0) process.exitCode = 1;
}
