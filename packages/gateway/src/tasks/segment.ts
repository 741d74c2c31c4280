/** Decodes a segment of a path; a segment with invalid escapes is returned unchanged, since no task has that name. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
