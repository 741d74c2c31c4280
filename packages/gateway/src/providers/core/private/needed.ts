/** A part that every answer of the vendor has; throws for an answer of another shape, which would look like silence. */
export function needed<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the answer has another shape than the vendor's");
  return part;
}
