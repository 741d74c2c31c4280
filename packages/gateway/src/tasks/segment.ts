/** A piece of a path; as it came where its escapes are none: no task has that name. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
