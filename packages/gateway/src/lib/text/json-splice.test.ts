import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasOneMember, spliceMembers } from "./json-splice.ts";

function splice(text: string, edits: Record<string, unknown>): string | undefined {
  const list = Object.entries(edits).map(([key, value]) => ({ key, json: JSON.stringify(value) }));
  return spliceMembers(Buffer.from(text), list)?.toString();
}

describe("spliceMembers", () => {
  it("keeps number spelling, order, spaces and unknown fields", () => {
    const text = '{ "temperature" : 1.0, "model":"a", "big": 12345678901234567890, "x":[{"model":"inner"}] }';
    expect(splice(text, { model: "b/ü" })).toBe(text.replace('"model":"a"', '"model":"b/ü"'));
  });

  it("adds missing members at the end", () => {
    expect(splice('{"a":1}', { b: { c: true } })).toBe('{"a":1,"b":{"c":true}}');
    expect(splice("{ }", { b: 1, c: 2 })).toBe('{ "b":1,"c":2}');
  });

  it("edits several members whatever their order is", () => {
    expect(splice('{"a":[1,"]"],"b":"\\"}","c":null}', { c: 3, a: 1, d: 4 })).toBe('{"a":1,"b":"\\"}","c":3,"d":4}');
  });

  it("gives up on duplicate and escaped keys", () => {
    expect(splice('{"model":"a","model":"b"}', { model: "c" })).toBeUndefined();
    expect(splice('{"mod\\u0065l":"a"}', { model: "c" })).toBeUndefined();
    expect(splice("[1]", { model: "c" })).toBeUndefined();
  });

  it("means the same as editing the parsed object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue()), fc.jsonValue(), (object, value) => {
        const text = JSON.stringify({ ...object, model: "m" });
        const spliced = spliceMembers(Buffer.from(text), [{ key: "model", json: JSON.stringify(value) }]);
        const hasEscapes = Object.keys(object).some((key) => JSON.stringify(key).includes("\\"));
        if (hasEscapes) expect(spliced).toBeUndefined();
        else expect(spliced!.toString()).toBe(JSON.stringify({ ...object, model: value }));
      }),
      { numRuns: 500 },
    );
  });

  it("never throws or hangs on arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        spliceMembers(Buffer.from(text), [{ key: "model", json: "1" }]);
        hasOneMember(Buffer.from(`{${text}`), "model");
      }),
      { numRuns: 500 },
    );
  });
});

describe("hasOneMember", () => {
  it("sees through nested members, escapes and duplicates", () => {
    const ask = (text: string) => hasOneMember(Buffer.from(text), "model");
    expect(ask('{"model":"a"}')).toBe(true);
    expect(ask('{"model":"a","x":{"model":"b"},"t":"\\u00e9"}')).toBe(true);
    expect(ask('{"model":"a","model":"b"}')).toBe(false);
    expect(ask('{"model":"a","mod\\u0065l":"b"}')).toBe(false);
    expect(ask('{"x":{"model":"b"},"t":"\\u00e9"}')).toBe(false);
  });
});
