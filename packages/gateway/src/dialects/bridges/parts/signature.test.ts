import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinSignature, splitSignature } from "./signature.ts";

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
