import type { Span } from "../../lib/text/json-splice.ts";

/** A piece of the body that is replaced; every other byte stays. */
export interface ByteEdit extends Span {
  readonly text: string;
}

/** Where marks go, and what the choice depends on. */
export interface MarkPlaces {
  readonly edits: readonly ByteEdit[];
  /** Bytes before the last mark. */
  readonly prefixEnd: number;
  /** What several conversations have in common: tools and system text. */
  readonly shared: readonly Span[];
  /** True if the prompt has an answer of the model. */
  readonly hasHistory: boolean;
}

/** The place before the closing brace of a JSON object. */
export function endOfObject({ end }: Span): Span {
  return { start: end - 1, end: end - 1 };
}

/** True for a JSON text of blanks alone, and for what is no text. */
export function isBlankText(bytes: Buffer, { start, end }: Span): boolean {
  return bytes[start] !== QUOTE || /^(?:\s|\\[nrtbf])*$/.test(bytes.toString("utf8", start + 1, end - 1));
}

const QUOTE = 34;

/** Puts a text, as it is written, into a list of one block with a further member. */
export function wrapText(bytes: Buffer, span: Span, member: string, type = "text"): ByteEdit {
  return { ...span, text: `[{"type":"${type}","text":${bytes.toString("utf8", span.start, span.end)},${member}}]` };
}

/** Returns the bytes with all edits. */
export function applyEdits(bytes: Buffer, edits: readonly ByteEdit[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(bytes.subarray(from, start), Buffer.from(text));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}
