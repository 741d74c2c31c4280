/** Encoders that count the tokens of one or many texts; texts beyond the limit are estimated. */
export type EncoderName = "o200k_base" | "cl100k_base";

const O200K = /^(gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|chatgpt-4o|o1|o3|o4|gpt-image|computer-use|omni|gpt-realtime|gpt-oss)/;

/** Returns the encoder of a model. For models of other vendors it is cl100k_base, which is an approximation. */
export function selectEncoder(model: string): EncoderName {
  return O200K.test(model) ? "o200k_base" : "cl100k_base";
}

/** Maximum UTF-16 units of one request to encode; the rest is estimated. */
export const ENCODED_AT_MOST = 1024 * 1024;
/** Estimated tokens per UTF-8 byte of the rest. */
export const REST_FACTOR = 0.25;

/**
 * The time of an encoder grows with the square of the length of an unbroken run, so runs that no real text contains are
 * cut. Each cut changes the count by at most one token.
 */
const LONG_RUN = /[\p{L}\p{M}]{128,}|\s{128,}|[^\s\p{L}\p{N}]{128,}/u;
const LONG_RUNS = new RegExp(LONG_RUN, "gu");
const RUN_PIECE = 64;

/**
 * Returns the tokens of a text. Counts long runs of one kind of character in pieces, because they slow an encoder down.
 */
export function countWith(countTokens: (text: string) => number, text: string): number {
  if (!LONG_RUN.test(text)) return countTokens(text);
  let total = 0;
  let from = 0;
  for (const match of text.matchAll(LONG_RUNS)) {
    total += countTokens(text.slice(from, match.index));
    from = match.index + match[0].length;
    total += countRun(countTokens, match[0]);
  }
  return total + countTokens(text.slice(from));
}

function countRun(countTokens: (text: string) => number, run: string): number {
  const points = Array.from(run);
  let total = 0;
  for (let at = 0; at < points.length; at += RUN_PIECE) total += countTokens(points.slice(at, at + RUN_PIECE).join(""));
  return total;
}
