import { readFileSync } from "node:fs";

const INCLUDE = /^-- include (\S+)\n/gm;

/**
 * Reads a Lua script next to a module: `readLua(import.meta.url, "./lua/hold.lua")`. A line `-- include PATH` is
 * replaced with another file, whose path is relative to the including file; a file that is included twice appears once,
 * at its first place. `scripts/build.ts` replaces each call with the text, so that the bundle reads no file.
 */
export function readLua(module: string | URL, path: string): string {
  return resolve(new URL(path, module), new Set());
}

function resolve(file: URL, seen: Set<string>): string {
  if (seen.has(file.href)) return "";
  seen.add(file.href);
  return readFileSync(file, "utf8").replaceAll(INCLUDE, (_line, path: string) => resolve(new URL(path, file), seen));
}
