/** Loaded only if a text needs it: the Unicode tables take longer than all other work of a short list. */
let measure: ((text: string) => number) | undefined;

/** Must be awaited before measuring a text beyond ASCII. */
export async function loadWidths(): Promise<void> {
  measure ??= (await import("string-width")).default;
}

export function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Returns the columns that a text takes in a terminal. */
export function measureWidth(text: string): number {
  if (isAscii(text)) return text.length;
  if (!measure) throw new Error("the widths of letters beyond ASCII are not loaded");
  return measure(text);
}
