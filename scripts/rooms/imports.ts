// Reads the import graph of product files from their text: relative imports and exports, including types.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
const TEST = /(?:\.test|\.contract)\.tsx?$/;

export interface Import {
  /** Path of the importing file, below the room. */
  readonly from: string;
  /** Path of the imported file, below the room. */
  readonly to: string;
}

/** Returns the paths of the product files below `folder`, sorted, without test files. */
export function listProductFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !TEST.test(path))
    .toSorted();
}

/** Returns the imports between product files of `folder`. */
export function listImports(folder: string): Import[] {
  const files = listProductFiles(folder);
  const known = new Set(files);
  return files.flatMap((from) =>
    [...readFileSync(join(folder, from), "utf8").matchAll(IMPORT)]
      .map(([, target = ""]) => relative(folder, resolve(folder, dirname(from), target)))
      .filter((to) => known.has(to))
      .map((to) => ({ from, to })),
  );
}
