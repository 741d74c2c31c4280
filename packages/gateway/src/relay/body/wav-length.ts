import type { Spool } from "./spool.ts";

const CHUNK_HEAD = 8;
const FORMAT_BYTES = 16;
/** Most chunks before the sound; a file with more is not a recording. */
const MAX_CHUNKS = 256;
/** Chunks of notes and pictures, which no reader plays. */
const NOTES = new Set(["LIST", "id3 ", "ID3 ", "bext", "iXML", "cue ", "smpl", "inst", "acid", "_PMX"]);

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the longest duration in seconds that any reader may find in a WAV file; undefined if it is not one. The head
 * says the same thing several times (bytes per second, samples per second, their size, the bytes of sound), and readers
 * differ in what they believe.
 */
export async function wavSeconds(spool: Pick<Spool, "readAt">, file: Stretch): Promise<number | undefined> {
  const read = async (at: number, size: number) => {
    const bytes = Buffer.alloc(Math.max(0, Math.min(size, file.end - file.start - at)));
    return bytes.subarray(0, await spool.readAt(bytes, file.start + at));
  };
  const head = await read(0, 12);
  if (!/^(?:RIFF|RF64|BW64)$/.test(tag(head)) || tag(head, 8) !== "WAVE") return undefined;
  let slowest = Infinity;
  for (let at = head.length, count = 0; count < MAX_CHUNKS; count++) {
    const chunk = await read(at, CHUNK_HEAD + FORMAT_BYTES);
    if (chunk.length < CHUNK_HEAD) return undefined;
    const length = chunk.readUInt32LE(4);
    const body = at + CHUNK_HEAD;
    const isFormat = tag(chunk) === "fmt " && chunk.length === CHUNK_HEAD + FORMAT_BYTES;
    if (isFormat) slowest = Math.min(slowest, slowestRate(chunk.subarray(CHUNK_HEAD)));
    at = body + length + (length % 2);
    if (tag(chunk) !== "data") continue;
    const rest = file.end - file.start - body;
    const hasNotes = length > 0 && NOTES.has(tag(await read(at, 4)));
    return calculateSeconds(hasNotes ? Math.min(length, rest) : rest, slowest);
  }
  return undefined;
}

function tag(bytes: Buffer, at = 0): string {
  return bytes.toString("latin1", at, at + 4);
}

/** Returns the lowest of the byte rates that the head allows; it makes the file longest. */
function slowestRate(format: Buffer): number {
  const channels = format.readUInt16LE(2);
  const samples = format.readUInt32LE(4);
  const perSecond = format.readUInt32LE(8);
  const perBlock = format.readUInt16LE(12);
  const bits = format.readUInt16LE(14);
  const rates = [perSecond, samples * perBlock, (samples * channels * bits) / 8];
  return Math.min(...rates.filter((rate) => rate > 0));
}

function calculateSeconds(bytes: number, rate: number): number | undefined {
  return Number.isFinite(rate) && bytes > 0 ? bytes / rate : undefined;
}
