// Combines several PNG pictures of one size into an animation: Animated PNG, PNG specification, third edition, 11.3.6.
import { crc32 } from "node:zlib";

export interface Frame {
  readonly png: Buffer;
  readonly ms: number;
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

const SIGNATURE_BYTES = 8;

export function animate(frames: readonly Frame[]): Buffer {
  const [first] = frames;
  if (!first) throw new Error("a picture needs a frame");
  const header = only(parseChunks(first.png), "IHDR");
  const parts: Buffer[] = [first.png.subarray(0, SIGNATURE_BYTES), header, chunk("acTL", numbers(frames.length, 0))];
  let sequence = 0;
  for (const [index, { png, ms }] of frames.entries()) {
    const chunks = parseChunks(png);
    if (!only(chunks, "IHDR").equals(header)) throw new Error(`frame ${index + 1} has another size than the first`);
    parts.push(chunk("fcTL", control(sequence++, header, ms)));
    for (const { type, data } of chunks) {
      if (type !== "IDAT") continue;
      parts.push(index === 0 ? chunk("IDAT", data) : chunk("fdAT", Buffer.concat([numbers(sequence++), data])));
    }
  }
  return Buffer.concat([...parts, chunk("IEND", Buffer.alloc(0))]);
}

/** Shows a whole picture at the origin for `ms`, replacing the previous one. */
function control(sequence: number, header: Buffer, ms: number): Buffer {
  const [width, height] = [header.readUInt32BE(8), header.readUInt32BE(12)];
  const delay = Buffer.alloc(6);
  delay.writeUInt16BE(ms, 0);
  delay.writeUInt16BE(1_000, 2);
  return Buffer.concat([numbers(sequence, width, height, 0, 0), delay]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

function parseChunks(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

/** Returns the chunk as it is in the file. */
function only(chunks: readonly Chunk[], type: string): Buffer {
  const found = chunks.find((one) => one.type === type);
  if (!found) throw new Error(`the picture has no ${type}`);
  return chunk(type, found.data);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([numbers(data.length), body, numbers(crc32(body))]);
}
