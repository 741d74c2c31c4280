import { parseJson } from "../../../lib/text/json.ts";

/** A longer text stays as it is: laying it out would freeze the page. */
const LONGEST_LAYOUT = 200_000;

/** The same JSON, one member a line; undefined when it is none. Numbers keep their digits, so only space changes. */
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
