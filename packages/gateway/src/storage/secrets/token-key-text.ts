import { crc32 } from "node:zlib";
import { randomText } from "../../lib/ids.ts";

const RANDOM_CHARS = 42;
const SUM_CHARS = 6;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * Returns a new key of a token: 42 random characters, 250 bits, and their checksum, by which a scanner tells a key from
 * another text without a call. The checksum takes no part in authentication: keys of other gateways have none.
 */
export function createTokenKey(): string {
  const random = randomText(RANDOM_CHARS);
  return random + checksum(random);
}

/** Returns true if the last 6 of 48 characters are the checksum of those before. */
export function hasChecksum(key: string): boolean {
  return key.length === RANDOM_CHARS + SUM_CHARS && key.endsWith(checksum(key.slice(0, RANDOM_CHARS)));
}

/** The CRC-32 (IEEE) in base 62, most significant digit first. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < SUM_CHARS; i++) {
    digits = (DIGITS[rest % DIGITS.length] ?? "") + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return digits;
}
