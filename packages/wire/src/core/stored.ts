interface Reader<T> {
  readonly safeParse: (value: unknown) => { success: true; data: T } | { success: false };
}

/** Returns the object of a row's JSON text; undefined if it is empty or cannot be read. */
export function readStored<T extends object>(schema: Reader<T>, text: string | null | undefined): T | undefined {
  if (!text) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const read = schema.safeParse(parsed);
  return read.success && Object.keys(read.data).length > 0 ? read.data : undefined;
}
