// The order of the parts inside each room, lowest first. A part imports the parts before it only, so that there is no
// circle between parts. `npm run check` compares the order with the imports.
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { listImports, listProductFiles, type Import } from "./imports.ts";

/** A room -> its parts, lowest first. A part is a folder, or a file without its ending. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "packages/gateway/src/dialects": [
    "core",
    "openai-chat",
    "client-ids",
    "anthropic-messages",
    "openai-responses",
    "gemini-generate",
    "endpoints",
    "bridges",
    "find-bridges",
    "members",
    "index",
  ],
  "packages/gateway/src/providers": ["core", "vendors", "index", "registry"],
};

export interface Fault {
  readonly room: string;
  readonly message: string;
}

/** The part that holds the file: the first folder of its path, or the file itself. */
export function readPart(path: string): string {
  const [first = path, ...rest] = path.split("/");
  return rest.length > 0 ? first : first.replace(/\.tsx?$/, "");
}

/** Imports that point from a part to a later one. Parts without a place are left out. */
export function findArrowsUp(parts: readonly string[], imports: readonly Import[]): Import[] {
  const heights = new Map(parts.map((part, index) => [part, index]));
  return imports.filter(({ from, to }) => {
    const [source, target] = [heights.get(readPart(from)), heights.get(readPart(to))];
    return source !== undefined && target !== undefined && source < target;
  });
}

/** Arrows up, parts without a place in the table, and places without a part. */
export function findFaults(room: string, parts: readonly string[]): Fault[] {
  const folder = join(ROOT, room);
  const found = new Set(listProductFiles(folder).map(readPart));
  const messages = [
    ...[...found]
      .filter((part) => !parts.includes(part))
      .map((part) => `${part} has no place in scripts/rooms/rooms.ts`),
    ...parts
      .filter((part) => !found.has(part))
      .map((part) => `scripts/rooms/rooms.ts names ${part}, which does not exist`),
    ...findArrowsUp(parts, listImports(folder)).map(({ from, to }) => `${from} imports ${to}, which lies above it`),
  ];
  return messages.map((message) => ({ room, message }));
}

if (import.meta.main) {
  const faults = Object.entries(ROOMS).flatMap(([room, parts]) => findFaults(room, parts));
  for (const { room, message } of faults) console.error(`${room}: ${message}`);
  if (faults.length > 0) process.exitCode = 1;
}
