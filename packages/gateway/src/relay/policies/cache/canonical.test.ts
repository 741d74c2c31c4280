import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical.ts";

describe("one text for all spellings of a request", () => {
  it.each([
    ['{"a":1,"b":[true,null]}', ' {"b" : [ true , null ] ,\n"a":1.0}'],
    ['{"a":"é\\u00e9/"}', '{"a":"\\u00e9é\\/"}'],
    ['{"a":1e2,"b":0.5}', '{"b":5e-1,"a":100}'],
    ['{"a":-0}', '{"a":0}'],
    ["{}", " { } "],
    ['{"a":[]}', '{"a":[ ]}'],
  ])("%s is %s", (one, other) => {
    expect(canonicalJson(one)).toBe(canonicalJson(other));
    expect(canonicalJson(one)).toBeDefined();
  });

  it.each([
    ["long integers", '{"seed":12345678901234567890}', '{"seed":12345678901234567891}'],
    ["long fractions", '{"a":0.1000000000000000055}', '{"a":0.1}'],
    ["very large numbers", '{"a":1e999}', '{"a":1e998}'],
    ["numbers beyond every exponent", '{"a":1e9999}', '{"a":2e9999}'],
    ["number and text", '{"a":1}', '{"a":"1"}'],
    ["null and nothing", '{"a":null}', "{}"],
    ["lone surrogates", '{"a":"\\ud800"}', '{"a":"\\ud801"}'],
    ["members of a schema, whose order models follow", '{"s":{"a":1,"b":2}}', '{"s":{"b":2,"a":1}}'],
    ["items", "[1,2]", "[2,1]"],
    ["members that look like structure", '{"a":"1,\\"b\\":2"}', '{"a":"1","b":2}'],
  ])("%s have different texts", (_name, one, other) => {
    expect(canonicalJson(one)).toBeDefined();
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });

  it.each([
    ["members of the same name", '{"temperature":0,"temperature":1}'],
    ["members of the same name in another spelling", '{"a":0,"\\u0061":1}'],
    ["members of the same name further inside", '{"x":[{"a":0,"a":1}]}'],
    ["a rest", "{} x"],
    ["an open end", '{"a":[1,2'],
    ["an open text", '{"a":"b'],
    ["a comma too many", '{"a":1,}'],
    ["a broken escape", '{"a":"\\x"}'],
    ["a mark of order", "\ufeff{}"],
    ["depth", `${"[".repeat(200)}${"]".repeat(200)}`],
    ["nothing", ""],
  ])("%s has none", (_name, text) => {
    expect(canonicalJson(text)).toBeUndefined();
  });

  it("two values share a text only when they are equal, however they are spelled", () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.integer({ min: 0, max: 4 }), (one, other, indent) => {
        const respelled = JSON.stringify(JSON.parse(one), null, indent);
        expect(canonicalJson(respelled)).toBe(canonicalJson(one));
        const isEqual = JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
        if (!isEqual) expect(plain(canonicalJson(one)) === plain(canonicalJson(other))).toBe(isSame(one, other));
      }),
      { numRuns: 500 },
    );
  });
});

function plain(text: string | undefined): string {
  return text ?? "none";
}

/** True if both are equal except for the order of the outermost members. */
function isSame(one: string, other: string): boolean {
  const sorted = (text: string) => {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return JSON.stringify(isObject ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : [value]);
  };
  const isZero = (text: string) => text.trim().replace("-", "") === "0";
  return sorted(one) === sorted(other) || (isZero(one) && isZero(other));
}
