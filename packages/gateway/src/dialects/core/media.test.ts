import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { audioTokens, imageSize, imageTokens } from "./media.ts";

function png(width: number, height: number): string {
  const bytes = Buffer.alloc(40);
  bytes.writeUInt32BE(0x89504e47, 0);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return `data:image/png;base64,${bytes.toString("base64")}`;
}

describe("imageTokens", () => {
  it.each([
    ["gpt-4o", png(1024, 1024), "high", 765],
    ["gpt-4o", png(2048, 4096), "high", 1105],
    ["gpt-4o", png(512, 512), "low", 85],
    ["gpt-4o", "https://example.com/a.png", undefined, 765],
    ["gpt-4o-mini", png(1024, 1024), "auto", 2833 + 4 * 5667],
    ["gpt-5", png(1024, 1024), "auto", 70 + 4 * 140],
    ["o1", png(10, 10), "low", 75],
    ["gpt-5-mini", png(1024, 1024), "low", Math.ceil(1024 * 1.62)],
    ["o4-mini", png(4096, 4096), "high", Math.ceil(1536 * 1.72)],
    ["claude-opus-5", png(1024, 1024), "high", 520],
  ])("%s %#", (model, url, detail, tokens) => {
    expect(imageTokens(model, url, detail)).toBe(tokens);
  });
});

describe("imageSize", () => {
  it("reads GIF, WebP and JPEG headers", () => {
    const gif = Buffer.alloc(40);
    gif.write("GIF89a");
    gif.writeUInt16LE(320, 6);
    gif.writeUInt16LE(200, 8);
    expect(imageSize(gif)).toEqual({ width: 320, height: 200 });
    const webp = Buffer.alloc(40);
    webp.write("RIFF", 0);
    webp.write("WEBPVP8X", 8);
    webp.writeUIntLE(639, 24, 3);
    webp.writeUIntLE(479, 27, 3);
    expect(imageSize(webp)).toEqual({ width: 640, height: 480 });
    const jpeg = Buffer.from("ffd8ffe000040000ffc00011080064012c0300000000000000000000000000000000", "hex");
    expect(imageSize(jpeg)).toEqual({ width: 300, height: 100 });
  });

  it("never throws or hangs on arbitrary bytes", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom("ffd8ff", "89504e47", "", "52494646"),
        (bytes, head) => {
          imageSize(Buffer.concat([Buffer.from(head, "hex"), Buffer.from(bytes)]));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("audioTokens", () => {
  it("counts ten tokens a second where the header reports the rate", () => {
    const wav = Buffer.alloc(32_000);
    wav.write("RIFF", 0);
    wav.write("WAVE", 8);
    wav.writeUInt32LE(16_000, 28);
    const data = wav.toString("base64");
    expect(audioTokens({ type: "input_audio", input_audio: { data, format: "wav" } })).toBeCloseTo(21, -1);
    expect(audioTokens({ type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } })).toBe(256);
  });
});
