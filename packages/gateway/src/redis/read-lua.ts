import { readFileSync } from "node:fs";

const INCLUDE = /^-- include (\S+)\n/gm;

/**
 * The text of a Lua script next to a module: `readLua(import.meta.url, "./lua/hold.lua")`. A line `-- include PATH`
 * stands for another file, relative to its own; a file that is included twice comes once, at its first place.
 * `scripts/build.ts` puts the text in the place of each call, so that the bundle reads no file.
 */
export function readLua(module: string | URL, path: string): string {
  return resolve(new URL(path, module), new Set());
}

function resolve(file: URL, seen: Set<string>): string {
  if (seen.has(file.href)) return "";
  seen.add(file.href);
  return readFileSync(file, "utf8").replaceAll(INCLUDE, (_line, path: string) => resolve(new URL(path, file), seen));
}
