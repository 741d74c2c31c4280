/** Header that names what the conversion and the vendor's rules removed from a request, or changed in it. */
export const DROPPED_HEADER = "x-fairway-dropped";

const LONGEST_NAME = 64;
const MAX_NAMES = 64;

/** Client input can have any length, but a row must fit into one packet of the database. */
export function boundedNames(names: readonly string[]): string[] {
  return [...new Set(names)].slice(0, MAX_NAMES).map((name) => name.slice(0, LONGEST_NAME));
}

/** Returns the names as a header, which allows only visible ASCII; undefined if there are none. */
export function droppedHeader(dropped: readonly string[]): string | undefined {
  if (dropped.length === 0) return undefined;
  return boundedNames(dropped)
    .map((name) => name.replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, "?"))
    .join(", ");
}
