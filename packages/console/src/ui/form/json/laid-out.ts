import { parseJson } from "../../../lib/text/json.ts";

/** A longer text is not formatted, because that would freeze the page. */
const LONGEST_LAYOUT = 200_000;

/**
 * Formats JSON with one member per line; undefined for invalid JSON. Numbers keep their digits, so only white space
 * changes.
 */
export function laidOut(text: string): string | undefined {
  if (text.length > LONGEST_LAYOUT || parseJson(text) === undefined) return undefined;
  const pieces = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let depth = 0;
  let result = "";
  pieces.forEach((piece, index) => {
    const isEmpty = /[{[]/.test(piece) && /^[}\]]$/.test(pieces[index + 1] ?? "");
    const line = () => `\n${"  ".repeat(depth)}`;
    if (/^[}\]]$/.test(piece)) {
      depth -= 1;
      result += /[{[]$/.test(result) ? piece : `${line()}${piece}`;
    } else if (/^[{[]$/.test(piece)) {
      depth += 1;
      result += isEmpty ? piece : `${piece}${line()}`;
    } else if (piece === ",") result += `,${line()}`;
    else result += piece === ":" ? ": " : piece;
  });
  return result;
}
