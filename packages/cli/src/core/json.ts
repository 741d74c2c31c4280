/** Parses a text as JSON; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the members of a JSON object; undefined for any other text. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

export function listIn(text: string): readonly unknown[] | undefined {
  const value = jsonIn(text);
  return Array.isArray(value) ? value : undefined;
}
