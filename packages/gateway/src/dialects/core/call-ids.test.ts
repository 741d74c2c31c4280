import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callIdFor, extraIn, joinExtra, joinSignature, plainCallId, splitSignature } from "./call-ids.ts";

describe("signatures inside of ids", () => {
  it("come back byte for byte", () => {
    const base64 = fc.uint8Array({ minLength: 1, maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    const short = fc.oneof(base64, fc.string({ minLength: 1 }), fc.stringMatching(/^[\w+/=~-]+$/));
    fc.assert(
      fc.property(short, (signature) => {
        const joined = joinSignature("call_1", signature);
        if (joined !== undefined) expect(splitSignature(joined)).toEqual({ id: "call_1", signature });
        else expect(signature.length).toBeGreaterThan(40);
      }),
      { numRuns: 1000 },
    );
  });

  it("hold only characters that every protocol takes in ids, where they are base64", () => {
    expect(joinSignature("call_1", "a+b/cA==")).toBe("call_1__thought__a-b_cA");
    expect(splitSignature("call_1")).toEqual({ id: "call_1", signature: undefined });
  });

  it("make no id that clients and other vendors refuse for its length, but longer ones are read", () => {
    const long = Buffer.alloc(1_500, 7).toString("base64");
    expect(joinSignature("call_1", long)).toBeUndefined();
    expect(splitSignature(`call_1__thought__${long}`)).toEqual({ id: "call_1", signature: long });
  });
});

describe("ids for an upstream", () => {
  const signed = "call_1__thought__CiQB";
  const hung = joinExtra(signed, '{"a":"ü"}');

  it("hold nothing that is meant for another", () => {
    expect([plainCallId("call_1"), plainCallId(signed), plainCallId(hung)]).toEqual(["call_1", "call_1", "call_1"]);
    expect(extraIn(hung)).toBe('{"a":"ü"}');
    expect(extraIn(signed)).toBeUndefined();
  });

  it("keep the signature that a gateway before the same kind of model put there", () => {
    expect(callIdFor("google/gemini-3-pro", hung)).toBe(signed);
    expect(callIdFor("gpt-4.1", hung)).toBe("call_1");
  });
});
