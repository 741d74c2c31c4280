import { decodePercent } from "../lib/text/percent-encoding.ts";

/** Decodes a segment of a path; a segment with invalid escapes is returned unchanged, since no task has that name. */
export function decoded(segment: string): string {
  return decodePercent(segment) ?? segment;
}
