import { describe, expect, it } from "vitest";
import { subtitleSeconds, soundSeconds } from "./sound-length.ts";
import { createSpool } from "./spool.ts";

const SECONDS = 3;

/** Reads the length of a file in the middle of a form. */
async function measureLength(file: Buffer, filename: string): Promise<number | undefined> {
  const spool = createSpool();
  try {
    const before = Buffer.from("--boundary\r\nheads\r\n\r\n");
    for (const part of [before, file, Buffer.from("\r\n--boundary--\r\n")]) await spool.write(part);
    return await soundSeconds(spool, { start: before.length, end: before.length + file.length, filename });
  } finally {
    await spool.dispose();
  }
}

const text = (value: string) => Buffer.from(value, "latin1");
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u32le = (value: number) => Buffer.from(u32(value)).reverse();

interface WavHead {
  readonly bytesPerSecond?: number;
  readonly samples?: number;
  readonly bytesPerBlock?: number;
  readonly declared?: number;
  readonly before?: Buffer;
  readonly after?: Buffer;
}

function wav({ bytesPerSecond = 16_000, samples = 8_000, ...more }: WavHead = {}): Buffer {
  const data = Buffer.alloc(SECONDS * 16_000);
  const { bytesPerBlock = 2, declared = data.length, before = Buffer.alloc(0), after = Buffer.alloc(0) } = more;
  const format = Buffer.concat([
    u32le(16),
    Buffer.from([1, 0, 1, 0]),
    u32le(samples),
    u32le(bytesPerSecond),
    Buffer.from([bytesPerBlock, 0, 16, 0]),
  ]);
  const chunks = Buffer.concat([text("WAVEfmt "), format, before, text("data"), u32le(declared), data, after]);
  return Buffer.concat([text("RIFF"), u32le(chunks.length), chunks]);
}

/** MPEG 1 layer 3, 128 kbit/s, 44.1 kHz. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)]);
const FRAMES = Math.round((SECONDS * 44_100) / 1152);

function mp3(): Buffer {
  const tag = Buffer.concat([text("ID3"), Buffer.from([3, 0, 0, 0, 0, 0, 10]), Buffer.alloc(10)]);
  return Buffer.concat([tag, ...Array.from({ length: FRAMES }, () => FRAME)]);
}

/** Variable bit rate: the first frame contains the number of frames and their size. */
function vbr(): Buffer {
  const head = Buffer.from(FRAME);
  Buffer.concat([text("Xing"), u32(3), u32(FRAMES), u32(4 * FRAME.length)]).copy(head, 36);
  return Buffer.concat([head, FRAME, FRAME, FRAME]);
}

function box(name: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(body.length + 8), text(name), body]);
}

/** Phones write the index after the sound. */
function m4a(): Buffer {
  const movie = box("mvhd", u32(0), u32(0), u32(0), u32(1_000), u32(SECONDS * 1_000), Buffer.alloc(80));
  const trackHead = box("tkhd", u32(7), u32(0), u32(0), u32(1), u32(0), u32(SECONDS * 1_000), Buffer.alloc(60));
  const mediaHead = box("mdhd", u32(0), u32(0), u32(0), u32(44_100), u32(SECONDS * 44_100), u32(0));
  const handler = box("hdlr", u32(0), u32(0), text("soun"), Buffer.alloc(13));
  const sound = Buffer.concat([
    Buffer.alloc(6),
    Buffer.from([0, 1]),
    Buffer.alloc(8),
    Buffer.from([0, 1, 0, 16]),
    u32(0),
    u32(44_100 * 65_536),
  ]);
  const samples = box(
    "stbl",
    box("stsd", u32(0), u32(1), box("mp4a", sound)),
    box("stts", u32(0), u32(1), u32(130), u32(1_024)),
  );
  const media = box("mdia", mediaHead, handler, box("minf", samples));
  return Buffer.concat([
    box("ftyp", text("M4A "), u32(0), text("isom")),
    box("mdat", Buffer.alloc(300_000)),
    box("moov", movie, box("trak", trackHead, media)),
  ]);
}

function oggPage(granule: number, flags: number, page: number, packet: Buffer): Buffer {
  const head = Buffer.alloc(27);
  head.write("OggS", "latin1");
  head[5] = flags;
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(7, 14);
  head.writeUInt32LE(page, 18);
  const lacing = [...Array<number>(Math.floor(packet.length / 255)).fill(255), packet.length % 255];
  head[26] = lacing.length;
  return Buffer.concat([head, Buffer.from(lacing), packet]);
}

/** Opus counts at 48 kHz; 312 samples are skipped at the start. */
function opus(): Buffer {
  const head = Buffer.concat([text("OpusHead"), Buffer.from([1, 1, 0x38, 0x01]), u32le(48_000), Buffer.alloc(3)]);
  const tags = Buffer.concat([text("OpusTags"), u32le(4), text("test"), u32le(0)]);
  return Buffer.concat([
    oggPage(0, 2, 0, head),
    oggPage(0, 0, 1, tags),
    oggPage(48_000, 0, 2, Buffer.alloc(200, 1)),
    oggPage(SECONDS * 48_000 + 312, 4, 3, Buffer.alloc(200, 1)),
  ]);
}

function flac(): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4_096, 0);
  info.writeUInt16BE(4_096, 2);
  info.writeBigUInt64BE((44_100n << 44n) | (15n << 36n) | BigInt(SECONDS * 44_100), 10);
  return Buffer.concat([text("fLaC"), Buffer.from([0x80, 0, 0, 34]), info, Buffer.alloc(100)]);
}

function element(id: string, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(id, "hex"),
    Buffer.from([0x40 | (content.length >> 8), content.length & 0xff]),
    content,
  ]);
}

function webm(): Buffer {
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(SECONDS * 1_000);
  const head = element("1a45dfa3", element("4282", text("webm")));
  const info = element(
    "1549a966",
    Buffer.concat([element("2ad7b1", Buffer.from([0x0f, 0x42, 0x40])), element("4489", duration)]),
  );
  const audio = element("e1", element("b5", duration.fill(0)));
  const track = element(
    "ae",
    Buffer.concat([
      element("d7", Buffer.from([1])),
      element("83", Buffer.from([2])),
      element("86", text("A_OPUS")),
      audio,
    ]),
  );
  return Buffer.concat([head, element("18538067", Buffer.concat([info, element("1654ae6b", track)]))]);
}

describe("the length of a recording", () => {
  it.each([
    ["a.wav", () => wav()],
    ["notes.wav", () => wav({ after: Buffer.concat([text("LIST"), u32le(40_000), Buffer.alloc(40_000)]) })],
    ["cbr.mp3", mp3],
    ["vbr.mp3", vbr],
    ["voice.m4a", m4a],
    ["voice.ogg", opus],
    ["a.flac", flac],
    ["recorder.webm", webm],
  ])("is found in %s", async (name, make) => {
    expect(await measureLength(make(), name)).toBeCloseTo(SECONDS, 1);
  });

  // @weakness Money: A WAV head that contradicts itself makes a long recording cost as much as a short one
  it.each<readonly [string, WavHead, number]>([
    ["too many bytes in a second", { bytesPerSecond: 16_000_000 }, SECONDS],
    ["too few bytes in a second", { bytesPerSecond: 8_000 }, 2 * SECONDS],
    ["too many samples in a second", { samples: 8_000_000 }, SECONDS],
    ["too few samples in a second", { samples: 4_000 }, 2 * SECONDS],
    ["blocks that are too large", { bytesPerBlock: 200 }, SECONDS],
    ["less sound than the file holds", { declared: 100 }, SECONDS],
    ["no sound", { declared: 0 }, SECONDS],
    ["more sound than the file holds", { declared: 0xffffffff }, SECONDS],
    [
      "its sound far behind",
      { declared: 2, before: Buffer.concat([text("junk"), u32le(80_000), Buffer.alloc(80_000)]) },
      SECONDS,
    ],
  ])("is the longest that a WAV header with %s allows", async (_what, head, seconds) => {
    expect(await measureLength(wav(head), "a.wav")).toBeCloseTo(seconds, 1);
  });

  it("is at least what the bytes of an MP3 or FLAC file last", async () => {
    const padding = Buffer.alloc(9 * 1024 * 1024);
    expect(await measureLength(Buffer.concat([vbr(), padding]), "a.mp3")).toBeGreaterThan(200);
    expect(await measureLength(Buffer.concat([flac(), padding]), "a.flac")).toBeGreaterThan(90);
  });

  it("is found without a file extension, and in files on disk", async () => {
    expect(await measureLength(flac(), "blob")).toBeCloseTo(SECONDS, 2);
    const long = Buffer.concat([mp3(), ...Array.from({ length: 2_000 }, () => FRAME)]);
    expect(await measureLength(long, "long.mp3")).toBeCloseTo(((FRAMES + 2_000) * 1152) / 44_100, 0);
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["noise", Buffer.alloc(5_000, 0x5a)],
    ["a cut file", wav().subarray(0, 20)],
    ["a cut index", m4a().subarray(0, 300_060)],
    [
      "a tag without end",
      Buffer.concat([text("ID3"), Buffer.from([3, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f]), Buffer.alloc(6_000_000)]),
    ],
  ])("is unknown of %s", async (_name, file) => {
    expect(await measureLength(file, "a.mp3")).toBeUndefined();
  });

  it("is the end of the last cue in subtitles", () => {
    expect(subtitleSeconds("1\n00:00:00,000 --> 00:00:02,500\nHi\n\n2\n00:00:03,000 --> 01:02:03,250\nyou\n")).toBe(
      3723.25,
    );
    expect(subtitleSeconds("WEBVTT\n\n00:00.000 --> 00:02.500\nHi")).toBe(2.5);
    expect(subtitleSeconds("no cues")).toBeUndefined();
  });
});
