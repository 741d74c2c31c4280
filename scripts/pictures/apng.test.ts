import { crc32, deflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { animate } from "./apng.ts";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(Buffer.concat([Buffer.from(type), data])));
  return Buffer.concat([length, Buffer.from(type), data, sum]);
}

/** A grey picture of one pixel, or of another width. */
function picture(shade: number, width = 1): Buffer {
  const header = Buffer.from([0, 0, 0, width, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const pixels = deflateSync(Buffer.from([0, ...Array.from({ length: width }, () => shade)]));
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

function chunksIn(png: Buffer): { type: string; data: Buffer; isWhole: boolean }[] {
  const found = [];
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const body = png.subarray(at + 4, at + 8 + length);
    const isWhole = png.readUInt32BE(at + 8 + length) === crc32(body);
    found.push({ type: body.toString("latin1", 0, 4), data: body.subarray(4), isWhole });
    at += length + 12;
  }
  return found;
}

it("puts every picture into a frame, in order, with counted chunks", () => {
  const chunks = chunksIn(
    animate([
      { png: picture(0), ms: 500 },
      { png: picture(255), ms: 250 },
    ]),
  );
  expect(chunks.map(({ type }) => type)).toEqual(["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "IEND"]);
  expect(chunks.every(({ isWhole }) => isWhole)).toBe(true);
  const sequence = chunks.filter(({ type }) => /^f[cd]/.test(type)).map(({ data }) => data.readUInt32BE(0));
  expect(sequence).toEqual([0, 1, 2]);
  expect(chunks[1]?.data.readUInt32BE(0)).toBe(2);
});

it("refuses pictures of two sizes", () => {
  expect(() =>
    animate([
      { png: picture(0), ms: 1 },
      { png: picture(0, 2), ms: 1 },
    ]),
  ).toThrow("frame 2 has another size");
});
