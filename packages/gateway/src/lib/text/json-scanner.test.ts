import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mayLoseNumbers } from "./exact-numbers.ts";
import { JsonScanner, type JsonLimits } from "./json-scanner.ts";

const LIMITS: JsonLimits = { maxDepth: 64, maxValues: 1_000_000, maxBytes: 8 * 1024 * 1024 };

function scan(text: string | Buffer, limits: Partial<JsonLimits> = {}, size = Infinity): JsonScanner {
  const scanner = new JsonScanner({ ...LIMITS, ...limits });
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += size) if (!scanner.write(bytes.subarray(at, at + size))) return scanner;
  scanner.end();
  return scanner;
}

function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value).reduce<number>((sum, member) => sum + countMembers(member), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}

describe("JsonScanner", () => {
  it("accepts every JSON text and counts its members, in chunks of any size", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
        fc.integer({ min: 1, max: 9 }),
        (value, size) => {
          const scanner = scan(JSON.stringify(value), { maxDepth: 1_000 }, size);
          expect(scanner.fault).toBeUndefined();
          expect(scanner.members).toBe(countMembers(value));
        },
      ),
    );
  });

  it("reads long strings with backslashes and quotes across chunks", () => {
    const value = { a: `${"x".repeat(100)}\\\\"${"\\".repeat(51)}`, "b\\": '"'.repeat(200), c: [1, "}"] };
    for (let size = 1; size < 130; size++) {
      const scanner = scan(JSON.stringify(value), {}, size);
      expect([size, scanner.fault, scanner.members]).toEqual([size, undefined, 3]);
    }
  });

  it("finds numbers that a double may not represent like the reader of whole texts, in chunks of any size", () => {
    const digits = fc.stringMatching(/^[0-9]{1,20}$/);
    const number = fc
      .tuple(fc.constantFrom("", "-"), digits, fc.constantFrom("", "e1", "E-2"), fc.boolean())
      .map(([sign, whole, exponent, hasFraction]) => `${sign}${whole}${hasFraction ? ".5" : ""}${exponent}`);
    const value = fc.oneof(number, fc.constantFrom("true", "false", "null", '"-0 1e5"', '"12345678901234567"'));
    fc.assert(
      fc.property(fc.array(value), fc.integer({ min: 1, max: 9 }), (values, size) => {
        for (const text of [`[${values.join(",")}]`, `{"a" : [${values.join(" , ")} ] }`])
          expect([text, scan(text, {}, size).mayLoseNumbers]).toEqual([text, mayLoseNumbers(text)]);
      }),
    );
  });

  it("refuses a text that nests too deep, at the byte that does", () => {
    expect(scan("[".repeat(64) + "]".repeat(64)).fault).toBeUndefined();
    expect(scan("[".repeat(65)).fault).toBe("too-deep");
  });

  it("refuses more values than the limit, however small they are", () => {
    expect(scan(`[${"{},".repeat(200_000)}1]`).fault).toBe("too-many-values");
    expect(scan(`[${"0,".repeat(1_100_000)}1]`).fault).toBe("too-many-values");
    expect(scan(`[${"0,".repeat(300_000)}1]`).fault).toBeUndefined();
    const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join(",")}}`;
    expect(scan(members(170_000)).fault).toBe("too-many-values");
    expect(scan(members(160_000)).fault).toBeUndefined();
  });

  it("refuses what closes more than it opened or ends early", () => {
    for (const text of ["]", "{}}", "[", '{"a":1', '"abc'])
      expect([text, scan(text).fault]).toEqual([text, "unbalanced"]);
  });

  it("counts bytes without inline files, and text as text", () => {
    const maxBytes = 1024 * 1024;
    const file = "A".repeat(2 * maxBytes);
    for (const size of [7_001, Infinity]) {
      expect(scan(`{"image":"data:image/png;base64,${file}"}`, { maxBytes }, size).fault).toBeUndefined();
      expect(scan(`{"data":"${file}","x":1}`, { maxBytes }, size).fault).toBeUndefined();
      expect(scan(`{"content":"${"a word ".repeat(maxBytes / 4)}"}`, { maxBytes }, size).fault).toBe("too-large");
    }
  });
});
