import fc from "fast-check";
import { expect, test } from "vitest";
import { createTokenKey, hasChecksum } from "./token-key-text.ts";

/** An implementation of its own: the CRC-32 bit by bit, and base 62 with big integers. */
function independentSum(text: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let rest = BigInt((crc ^ 0xffffffff) >>> 0);
  let sum = "";
  for (; rest > 0n; rest /= 62n) sum = digits[Number(rest % 62n)] + sum;
  return sum.padStart(6, "0");
}

test("a key is 48 letters and digits that end in the checksum of those before", () => {
  const keys = Array.from({ length: 200 }, createTokenKey);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) {
    expect(key).toMatch(/^[0-9A-Za-z]{48}$/);
    expect(key.slice(42)).toBe(independentSum(key.slice(0, 42)));
    expect(hasChecksum(key)).toBe(true);
  }
});

test("a changed letter breaks the checksum, and other lengths have none", () => {
  const position = fc.nat(47);
  fc.assert(
    fc.property(position, (at) => {
      const key = createTokenKey();
      const other = key[at] === "x" ? "y" : "x";
      return !hasChecksum(key.slice(0, at) + other + key.slice(at + 1)) && !hasChecksum(key.slice(0, at));
    }),
  );
});
