/**
 * Returns a part that every answer of the vendor has; throws for another shape, which would look like an empty answer.
 */
export function needed<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("unexpected response format");
  return part;
}
