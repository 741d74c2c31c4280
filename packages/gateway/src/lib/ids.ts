import { randomFillSync } from "node:crypto";
import type { Clock } from "./clock.ts";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;

/** Random bytes are drawn in blocks, because one draw per id costs more than the id. */
const pool = Buffer.alloc(4096);
let used = pool.length;

function nextByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++] ?? 0;
}

/**
 * Creates 26-character ids: 48 bits of milliseconds, then 80 random bits; their text order is their time order. Each is
 * decoded from bytes at once, because a text that is concatenated letter by letter is copied again at its first use.
 */
export function createIds(clock: Clock): () => string {
  const letters = Buffer.alloc(TIME_CHARS + RANDOM_CHARS);
  let lastMs = -1;
  return () => {
    const now = clock.now();
    if (now !== lastMs) {
      lastMs = now;
      letters.write(timeText(now), "latin1");
    }
    for (let i = TIME_CHARS; i < letters.length; i++) letters[i] = CROCKFORD.charCodeAt(nextByte() & 31);
    return letters.toString("latin1");
  };
}

/**
 * Returns cryptographically random text over `alphabet` (0-9, A-Z, a-z by default); every character is equally likely.
 */
export function randomText(length: number, alphabet: string = ALPHANUMERIC): string {
  const bound = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    const byte = nextByte();
    if (byte < bound) text += alphabet[byte % alphabet.length];
  }
  return text;
}

function timeText(ms: number): string {
  let rest = ms;
  let text = "";
  for (let i = 0; i < TIME_CHARS; i++) {
    text = CROCKFORD[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
