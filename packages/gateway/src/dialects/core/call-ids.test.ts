import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callIdFor, extraIn, joinExtra, joinSignature, plainCallId, splitSignature } from "./call-ids.ts";

describe("signatures inside of ids", () => {
  it("come back byte for byte", () => {
    const base64 = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    fc.assert(
      fc.property(fc.oneof(base64, fc.string({ minLength: 1 }), fc.stringMatching(/^[\w+/=~-]+$/)), (signature) => {
        expect(splitSignature(joinSignature("call_1", signature))).toEqual({ id: "call_1", signature });
      }),
      { numRuns: 1000 },
    );
  });

  it("hold only characters that every protocol takes in ids, where they are base64", () => {
    expect(joinSignature("call_1", "a+b/cA==")).toBe("call_1__thought__a-b_cA");
    expect(joinSignature("call_1", undefined)).toBe("call_1");
    expect(splitSignature("call_1")).toEqual({ id: "call_1", signature: undefined });
  });
});

describe("ids for an upstream", () => {
  const signed = joinSignature("call_1", "CiQB");
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
