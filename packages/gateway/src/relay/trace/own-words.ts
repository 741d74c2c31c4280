/** Characters of a message that are looked for in the request. */
const STEP = 8;
/** A stretch that the request holds too is a quotation from this length on. */
const QUOTED = 16;
/** More of a request is not searched: it would take longer than the row is worth. */
const MAX_SEARCHED = 1024 * 1024;
export const LONGEST_SAID = 200;

/**
 * What an upstream said, without what it repeats of the request: prompts never reach the log. A quotation has a whole
 * step in it, so only those are looked for.
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
