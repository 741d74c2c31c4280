import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./bootstrap.mjs";

const CACHE = join(ROOT, "node_modules", ".cache", "fairway");

/** Returns a hash over the contents of the files that match the patterns (folders are skipped). */
export function fingerprint(patterns: readonly string[]): string {
  const hash = createHash("sha256");
  const files = patterns.flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT, exclude: (path) => /node_modules|dist/.test(path) }),
  );
  for (const file of [...new Set(files)].sort()) {
    const path = join(ROOT, file);
    if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

/** Returns true if `output` exists and was built from exactly these sources. */
export function isCurrent(name: string, print: string, output: string): boolean {
  const file = join(CACHE, `${name}.sha256`);
  return existsSync(join(ROOT, output)) && existsSync(file) && readFileSync(file, "utf8") === print;
}

export function remember(name: string, print: string): void {
  const file = join(CACHE, `${name}.sha256`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, print);
}
