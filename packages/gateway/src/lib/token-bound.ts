/** An upper estimate of the tokens of a text, from its UTF-8 length alone. */
export function promptTokenBound(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 2);
}
