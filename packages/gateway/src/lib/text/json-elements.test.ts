import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonElements, type ElementsLimits } from "./json-elements.ts";

const LIMITS: ElementsLimits = { maxElements: 1_000, maxElementBytes: 100_000, maxFrameBytes: 100_000 };

/** Reads a text in pieces; returns its elements as texts and the frame. */
function read(text: string, path: readonly string[], { size = 7, limits = LIMITS } = {}) {
  const bytes = Buffer.from(text);
  const scanner = new JsonElements(path, limits);
  for (let at = 0; at < bytes.length; at += size) scanner.write(bytes.subarray(at, at + size));
  scanner.end();
  const elements = scanner.ends.map((end, index) => bytes.toString("utf8", scanner.starts[index], end));
  return { elements, frame: scanner.frame.toString(), fault: scanner.fault, isFound: scanner.isFound };
}

describe("the elements of a list", () => {
  it("are found in any chunking, and the frame is what is left", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 3 })),
        fc.jsonValue({ maxDepth: 2 }),
        fc.integer({ min: 1, max: 40 }),
        (list, other, size) => {
          const text = JSON.stringify({ a: other, requests: list, b: { requests: [other] } }, undefined, 1);
          const found = read(text, ["requests"], { size });
          expect(found.fault).toBeUndefined();
          expect(found.elements.map((element) => JSON.parse(element) as unknown)).toEqual(
            JSON.parse(JSON.stringify(list)),
          );
          expect(JSON.parse(found.frame)).toEqual(
            JSON.parse(JSON.stringify({ a: other, requests: list.map(() => 0), b: { requests: [other] } })),
          );
        },
      ),
    );
  });

  it("are found below several members with equal names", () => {
    const text = '{"batch":{"x":{"requests":[9]},"inputConfig":{"requests":{"requests":[{"a":"]"},{"b":[1]}]}}}}';
    const { elements, frame } = read(text, ["batch", "inputConfig", "requests", "requests"]);
    expect(elements).toEqual(['{"a":"]"}', '{"b":[1]}']);
    expect(JSON.parse(frame)).toMatchObject({ batch: { inputConfig: { requests: { requests: [0, 0] } } } });
  });

  it("are found under a name that is written with escapes or followed by spaces", () => {
    expect(read('{"\\u0072equests" : [1,"a"]}', ["requests"]).elements).toEqual(["1", '"a"']);
  });

  it("are not found if the list is missing or something else", () => {
    expect(read('{"requests":{"requests":[1]}}', ["requests"]).isFound).toBe(false);
    expect(read('[{"requests":[1]}]', ["requests"]).isFound).toBe(false);
  });

  it("are refused if the list is there twice, because parsers disagree on which one counts", () => {
    expect(read('{"requests":[1],"requests":[2]}', ["requests"]).fault).toBe("repeated");
  });

  it("are refused beyond each limit, and in a text that ends early", () => {
    expect(read('{"requests":[1,2]}', ["requests"], { limits: { ...LIMITS, maxElements: 1 } }).fault).toBe(
      "too-many-elements",
    );
    expect(read('{"requests":["abcdef"]}', ["requests"], { limits: { ...LIMITS, maxElementBytes: 7 } }).fault).toBe(
      "element-too-large",
    );
    expect(read('{"x":"abcdef"}', ["requests"], { limits: { ...LIMITS, maxFrameBytes: 9 } }).fault).toBe(
      "frame-too-large",
    );
    expect(read('{"requests":[1', ["requests"]).fault).toBe("unbalanced");
  });
});
