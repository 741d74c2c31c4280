/** Length of the pieces of a message that are searched for in the request, in characters. */
const STEP = 8;
/** A passage that the request also contains is a quotation from this length on. */
const QUOTED = 16;
/** A longer request is not searched: that would take longer than the row is worth. */
const MAX_SEARCHED = 1024 * 1024;
export const LONGEST_SAID = 200;

/**
 * Returns an upstream's message without what it repeats of the request: prompts never reach the log. Every quotation
 * contains a whole step, so only whole steps are searched for.
 */
export function ownWords(message: string, request: Buffer): string {
  const text = message.slice(0, LONGEST_SAID);
  if (request.length > MAX_SEARCHED) return "";
  let words = "";
  let done = 0;
  for (let at = 0; at + STEP <= text.length; at += STEP) {
    if (at < done || !request.includes(text.slice(at, at + STEP))) continue;
    let start = at;
    let end = at + STEP;
    while (start > done && request.includes(text.slice(start - 1, end))) start--;
    while (end < text.length && request.includes(text.slice(start, end + 1))) end++;
    if (end - start < QUOTED) continue;
    words += `${text.slice(done, start)}…`;
    done = end;
  }
  return words + text.slice(done);
}
