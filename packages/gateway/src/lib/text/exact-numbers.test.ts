import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mayLoseNumbers, nearestNumber, parseExactly } from "./exact-numbers.ts";

const LOST = [
  "12345678901234567890",
  "1e400",
  "-1E400",
  "-0",
  "-0.0",
  "0.12345678901234567891",
  "1e-400",
  "9007199254740993",
];
const HELD = [
  "0",
  "1",
  "1.0",
  "1.50",
  "-12",
  "1e5",
  "1E+2",
  "0.1",
  "9007199254740991",
  "123456789012345680000",
  "2.5e-7",
];

describe("numbers", () => {
  it.each(LOST)("%s is written out as it came", (number) => {
    const text = `{"a":[${number}],"b":{"c":${number}}}`;
    expect(JSON.stringify(parseExactly(text))).toBe(text);
    expect(nearestNumber(parseExactly(number))).toBe(Number(number));
  });

  it.each(HELD)("%s is a plain number", (number) => expect(parseExactly(`[${number}]`)).toEqual([Number(number)]));

  it("keep their value, whatever they look like", () => {
    const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
    const number = fc
      .tuple(fc.constantFrom("", "-"), fc.bigInt({ min: 0n }), digits(30), fc.integer({ min: -400, max: 400 }))
      .map(([sign, whole, fraction, power]) => `${sign}${whole}.${fraction}e${power}`);
    fc.assert(
      fc.property(number, (written) => {
        const out = JSON.stringify(parseExactly(`[${written}]`));
        expect(out === `[${written}]` || Number(out.slice(1, -1)) === Number(written)).toBe(true);
        // A second parser reads the same value as the first one.
        expect(JSON.stringify(parseExactly(out))).toBe(out);
      }),
    );
  });

  it("in strings are no numbers", () => {
    expect(mayLoseNumbers('{"a\\\\":"12345678901234567890","b\\"":"1e400, -0","c":1}')).toBe(false);
    expect(mayLoseNumbers('{"a":"\\\\","b":12345678901234567890}')).toBe(true);
  });

  it("leave the rest as JSON.parse reads it: of a name that occurs twice the last value counts", () => {
    expect(JSON.stringify(parseExactly('{"b":1e400,"a":1,"b":-0}'))).toBe('{"b":-0,"a":1}');
    expect(() => parseExactly('{"a":1e400')).toThrow(SyntaxError);
  });

  it("are found wherever JSON has them", () =>
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.stringify(parseExactly(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 200 },
    ));
});
