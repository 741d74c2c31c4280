import type { IFormat } from "music-metadata";
import type { Spool } from "./spool.ts";
import { wavSeconds } from "./wav-length.ts";

/** A recording within a form. */
export interface SoundFile {
  readonly start: number;
  readonly end: number;
  readonly filename: string | undefined;
}

/** Most bytes of a file that are read to find its length. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Bytes of pictures and notes that a recording may hold. */
const COVER_BYTES = 1024 * 1024;

/**
 * Returns the length of a recording (WAV, MP3, M4A, Ogg, FLAC, WebM); undefined if the file has no length or is not a
 * recording. If a file contradicts itself, it is the longest length that a reader may find.
 */
export async function soundSeconds(spool: Pick<Spool, "readAt">, file: SoundFile): Promise<number | undefined> {
  const [declared = 0, longest = 0] = [await declaredSeconds(spool, file), await wavSeconds(spool, file)];
  return Math.max(declared, longest) || undefined;
}

async function declaredSeconds(
  spool: Pick<Spool, "readAt">,
  { start, end, filename }: SoundFile,
): Promise<number | undefined> {
  const [{ parseFromTokenizer }, { SpoolTokenizer }] = await Promise.all([
    import("music-metadata"),
    import("./spool-tokenizer.ts"),
  ]);
  const tokenizer = new SpoolTokenizer(spool, { start, end, filename, maxBytes: MAX_READ_BYTES });
  try {
    const { format } = await parseFromTokenizer(tokenizer, {
      skipCovers: true,
      skipPostHeaders: true,
      duration: false,
    });
    const { duration = 0 } = format;
    return Number.isFinite(duration) && duration > 0
      ? Math.max(duration, leastSeconds(format, end - start))
      : undefined;
  } catch {
    // The file is not a recording, truncated, or of another kind: its transcript then decides the charge.
    return undefined;
  }
}

/** Most bytes in a second of MP3. */
const MP3_BYTES = 40_000;

/** Returns the shortest duration for this many bytes, if the container holds nothing but sound. */
function leastSeconds({ container, sampleRate = 0, numberOfChannels = 0, bitsPerSample = 0 }: IFormat, bytes: number) {
  const perSecond = container === "FLAC" ? (sampleRate * numberOfChannels * bitsPerSample) / 8 : MP3_BYTES;
  const isOnlySound = container === "FLAC" || container === "MPEG";
  return isOnlySound && perSecond > 0 ? Math.max(0, bytes - COVER_BYTES) / perSecond : 0;
}

const CUE_END = /-->\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})/g;

/** Returns the end of the last subtitle cue in seconds; undefined for text without cues. */
export function subtitleSeconds(text: string): number | undefined {
  let end: number | undefined;
  for (const [, hours = "0", minutes, seconds, milliseconds] of text.matchAll(CUE_END)) {
    end = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000;
  }
  return end;
}
