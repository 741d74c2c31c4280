export const KIB = 1024;
/** Maximum size of the text of an option. */
export const MAX_BYTES = 512 * KIB;

/** Returns the value of a JSON text; undefined if it is invalid or longer than an option may be. */
export function parseJson(text: string): unknown {
  if (byteLength(text) > MAX_BYTES) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the object of a JSON text; undefined for anything else. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the size of the text in UTF-8 bytes. */
export function byteLength(text: string): number {
  if (text.length * 3 <= MAX_BYTES) return text.length;
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}
