// Sound in answers: this upstream sends only raw samples, and WAV is the only other format that is built from them
// here.
import { unsupportedParameter } from "../../../lib/app-error.ts";
import { object, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";

export const SOUND_ID = "audio";
const HEAD_BYTES = 44;
const USUAL_RATE = 24_000;
const BYTES_PER_SAMPLE = 2;

export type SoundFormat = "pcm16" | "wav";

/** Returns the format that a chat request names; throws for formats into which the samples would have to be encoded. */
export function readSoundFormat(body: JsonObject, { spec }: BridgeContext): SoundFormat {
  const format = text(object(body, "audio"), "format") ?? "pcm16";
  if (format === "pcm16") return format;
  if (spec.stream) throw unsupportedParameter("audio.format", "Ask for pcm16: streams have no other.");
  if (format !== "wav") throw unsupportedParameter("audio.format", "Ask for wav or pcm16.");
  return format;
}

/** Joins the sound of several parts, in the format that the client requested; undefined if there is none. */
export function joinAudio(
  parts: readonly JsonObject[],
  context: BridgeContext,
  format: SoundFormat,
): JsonObject | undefined {
  const sounding = parts.filter((part) => readSound(part) !== "");
  const [first] = sounding;
  if (first === undefined) return undefined;
  // Each piece may end in base64 padding, which is only valid at the end.
  const samples = Buffer.concat(sounding.map((part) => Buffer.from(readSound(part), "base64")));
  const sound = format === "wav" ? withHead(samples, readMediaType(first)) : samples;
  return { id: SOUND_ID, data: sound.toString("base64"), transcript: "", expires_at: calculateExpiry(context) };
}

/** Returns the expiry of the sound. It is not stored, so a later request cannot name it by its id. */
export function calculateExpiry({ now }: BridgeContext): number {
  return Math.floor(now / 1000);
}

/** Returns the sound in a part as base64; "" if it holds none. */
export function readSound(part: JsonObject): string {
  return readMediaType(part).startsWith("audio/") ? (text(object(part, "inlineData"), "data") ?? "") : "";
}

function readMediaType(part: JsonObject): string {
  return text(object(part, "inlineData"), "mimeType") ?? "";
}

/** Puts a WAV header before raw samples; sound that already has a header keeps it. */
function withHead(samples: Buffer, type: string): Buffer {
  if (!/l16|pcm/i.test(type)) return samples;
  const rate = Number(/rate=(\d+)/.exec(type)?.[1] ?? USUAL_RATE);
  const head = Buffer.alloc(HEAD_BYTES);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(HEAD_BYTES - 8 + samples.length, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * BYTES_PER_SAMPLE, 28);
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  head.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
