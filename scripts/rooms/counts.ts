// `npm run counts`: prints figures of the structure, to compare before and after a large change.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { listImports, listProductFiles } from "./imports.ts";
import { findArrowsUp, ROOMS } from "./rooms.ts";

const PACKAGES = ["gateway", "console", "cli", "wire"];
const FUNCTION =
  /(?:\bfunction\s+|\bconst\s+)([A-Za-z_]\w*)(?=\s*(?:<[^>]*>)?\(|\s*=\s*(?:async\s*)?\([^)]*\)[^=;]*=>)/g;

export interface Counts {
  readonly files: number;
  readonly lines: number;
  /** Percentage of lines that are comments. */
  readonly comments: number;
  readonly functions: number;
  /** Function names that end in `Of`: functions should be verbs. */
  readonly nouns: readonly string[];
  /** Files that exactly one other product file imports. */
  readonly singleImporter: number;
}

function countText(text: string) {
  const lines = text.split("\n");
  const names = [...text.matchAll(FUNCTION)].map(([, name = ""]) => name);
  return {
    lines: lines.length,
    comments: lines.filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line)).length,
    functions: names.length,
    nouns: names.filter((name) => /[a-z0-9]Of$/.test(name)),
  };
}

/** Counts the product files below `folder`. */
export function countFolder(folder: string): Counts {
  const files = listProductFiles(folder);
  const texts = files.map((file) => countText(readFileSync(join(folder, file), "utf8")));
  const sum = (key: "lines" | "comments" | "functions") => texts.reduce((total, text) => total + text[key], 0);
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of listImports(folder)) importers.set(to, (importers.get(to) ?? new Set()).add(from));
  return {
    files: files.length,
    lines: sum("lines"),
    comments: Math.round((sum("comments") / sum("lines")) * 1000) / 10,
    functions: sum("functions"),
    nouns: texts.flatMap(({ nouns }) => nouns),
    singleImporter: [...importers.values()].filter((from) => from.size === 1).length,
  };
}

if (import.meta.main) {
  console.table(
    Object.fromEntries(
      PACKAGES.map((name) => {
        const counts = countFolder(join(ROOT, "packages", name, "src"));
        return [name, { ...counts, nouns: counts.nouns.length }];
      }),
    ),
  );
  console.table(
    Object.fromEntries(
      Object.entries(ROOMS).map(([room, parts]) => {
        const imports = listImports(join(ROOT, room));
        return [room, { parts: parts.length, imports: imports.length, up: findArrowsUp(parts, imports).length }];
      }),
    ),
  );
}
