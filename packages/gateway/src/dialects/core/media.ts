// Tokens of images, audio and files, for reservations and for prompts that no upstream counts. Sizes are read from
// the first bytes of data URLs; remote files are never fetched for counting.
import type { JsonObject } from "./types.ts";
import { object, text } from "./read.ts";

export const FILE_TOKENS = 4096;
export const VIDEO_TOKENS = 8192;
const AUDIO_TOKENS = 256;
const AUDIO_TOKENS_PER_SECOND = 10;
const OTHER_IMAGE_TOKENS = 520;
const UNKNOWN_SIDE = 1024;
/** Enough for every header but a JPEG with large embedded profiles. */
const HEADER_CHARACTERS = 64 * 1024;
const PATCH_SIDE = 32;
const MAX_PATCHES = 1536;

interface Size {
  readonly width: number;
  readonly height: number;
}

type ImageRule =
  | { readonly kind: "tiles"; readonly base: number; readonly tile: number }
  | { readonly kind: "patches"; readonly factor: number }
  | { readonly kind: "flat"; readonly tokens: number };

/** First match wins. */
const IMAGE_RULES: readonly (readonly [RegExp, ImageRule])[] = [
  [/^gpt-4o-mini/, { kind: "tiles", base: 2833, tile: 5667 }],
  [/^(gpt-4\.1|gpt-5)-mini/, { kind: "patches", factor: 1.62 }],
  [/^gpt-[45](\.\d+)?-nano/, { kind: "patches", factor: 2.46 }],
  [/^o4-mini/, { kind: "patches", factor: 1.72 }],
  [/^gpt-5/, { kind: "tiles", base: 70, tile: 140 }],
  [/^o[13]/, { kind: "tiles", base: 75, tile: 150 }],
  [/^computer-use/, { kind: "tiles", base: 65, tile: 129 }],
  [/^(gpt-|chatgpt-|o\d)/, { kind: "tiles", base: 85, tile: 170 }],
  [/./, { kind: "flat", tokens: OTHER_IMAGE_TOKENS }],
];

/** Returns the tokens of one input image; `url` is a data URL, a web address or undefined for stored files. */
export function imageTokens(model: string, url: string | undefined, detail: string | undefined): number {
  const rule = IMAGE_RULES.find(([pattern]) => pattern.test(model))?.[1];
  if (rule === undefined || rule.kind === "flat") return OTHER_IMAGE_TOKENS;
  if (rule.kind === "tiles" && detail === "low") return rule.base;
  const size = (url === undefined ? undefined : readDataUrlSize(url)) ?? { width: UNKNOWN_SIDE, height: UNKNOWN_SIDE };
  return rule.kind === "tiles" ? rule.base + countTiles(size) * rule.tile : Math.ceil(countPatches(size) * rule.factor);
}

/** Counts tiles: the image is scaled to fit into 2048 x 2048, then its short side to 768. */
function countTiles(size: Size): number {
  const fit = Math.min(1, 2048 / Math.max(size.width, size.height));
  const scale = fit * (768 / (fit * Math.min(size.width, size.height)));
  return Math.max(1, tiles(size.width * scale) * tiles(size.height * scale));
}

function tiles(side: number): number {
  return Math.ceil(Math.round(side) / 512);
}

function countPatches({ width, height }: Size): number {
  const count = (scale: number) => Math.ceil((width * scale) / PATCH_SIDE) * Math.ceil((height * scale) / PATCH_SIDE);
  if (count(1) <= MAX_PATCHES) return count(1);
  const shrink = Math.sqrt((MAX_PATCHES * PATCH_SIDE ** 2) / (width * height));
  return Math.min(MAX_PATCHES, count(shrink));
}

/** Returns the tokens of an `input_audio` part, by duration if the container reports it. */
export function audioTokens(part: JsonObject | undefined): number {
  const data = text(object(part, "input_audio"), "data");
  const seconds = data === undefined ? undefined : wavSeconds(data);
  return seconds === undefined ? AUDIO_TOKENS : Math.ceil(seconds * AUDIO_TOKENS_PER_SECOND);
}

function wavSeconds(base64: string): number | undefined {
  const header = Buffer.from(base64.slice(0, 64), "base64");
  if (header.length < 32 || header.toString("latin1", 0, 4) !== "RIFF" || header.toString("latin1", 8, 12) !== "WAVE")
    return undefined;
  const bytesPerSecond = header.readUInt32LE(28);
  return bytesPerSecond === 0 ? undefined : (base64.length * 3) / 4 / bytesPerSecond;
}

function readDataUrlSize(url: string): Size | undefined {
  if (!url.startsWith("data:")) return undefined;
  const comma = url.indexOf(",");
  return comma < 0 ? undefined : imageSize(Buffer.from(url.slice(comma + 1, comma + 1 + HEADER_CHARACTERS), "base64"));
}

/** Reads width and height from the header of a PNG, GIF, WebP or JPEG file. */
export function imageSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined;
  if (bytes.readUInt32BE(0) === 0x89504e47) return sized(bytes.readUInt32BE(16), bytes.readUInt32BE(20));
  if (bytes.toString("latin1", 0, 4) === "GIF8") return sized(bytes.readUInt16LE(6), bytes.readUInt16LE(8));
  if (bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP") return webpSize(bytes);
  return bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : undefined;
}

function webpSize(bytes: Buffer): Size | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return sized(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return sized((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1);
    }
    case "VP8X":
      return sized(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}

function jpegSize(bytes: Buffer): Size | undefined {
  let i = 2;
  while (i + 9 < bytes.length && bytes[i] === 0xff) {
    const marker = bytes[i + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return sized(bytes.readUInt16BE(i + 7), bytes.readUInt16BE(i + 5));
    i += 2 + bytes.readUInt16BE(i + 2);
  }
  return undefined;
}

function sized(width: number, height: number): Size | undefined {
  return width > 0 && height > 0 ? { width, height } : undefined;
}
