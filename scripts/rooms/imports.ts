// The import graph of product files, read from their text: relative imports and exports, types included.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
const TEST = /(?:\.test|\.contract)\.tsx?$/;

export interface Import {
  /** Path below the room of the file that imports. */
  readonly from: string;
  /** Path below the room of the imported file. */
  readonly to: string;
}

/** Paths of the product files below `folder`, sorted. Test files are left out. */
export function listProductFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !TEST.test(path))
    .toSorted();
}

/** The imports between product files of `folder`. */
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
