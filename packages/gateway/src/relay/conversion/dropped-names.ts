/** Names what the conversion and the vendor's rules left out of a request, or changed in it. */
export const DROPPED_HEADER = "x-fairway-dropped";

const LONGEST_NAME = 64;
const MAX_NAMES = 64;

/** Client input has any length; a row must fit into one packet of the database. */
export function boundedNames(names: readonly string[]): string[] {
  return [...new Set(names)].slice(0, MAX_NAMES).map((name) => name.slice(0, LONGEST_NAME));
}

/** The names as a header, which takes visible ASCII only; undefined when there are none. */
export function droppedHeader(dropped: readonly string[]): string | undefined {
  if (dropped.length === 0) return undefined;
  return boundedNames(dropped)
    .map((name) => name.replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, "?"))
    .join(", ");
}
