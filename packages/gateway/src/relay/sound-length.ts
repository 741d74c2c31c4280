/** Length of a WAV file in seconds, from its first bytes and its size; undefined for everything else. */
export function wavSeconds(head: Buffer, size: number): number | undefined {
  if (head.length < 44 || head.toString("latin1", 0, 4) !== "RIFF" || head.toString("latin1", 8, 12) !== "WAVE")
    return undefined;
  let at = 12;
  let bytesPerSecond = 0;
  while (at + 8 <= head.length) {
    const name = head.toString("latin1", at, at + 4);
    const length = head.readUInt32LE(at + 4);
    if (name === "fmt " && at + 20 <= head.length) bytesPerSecond = head.readUInt32LE(at + 16);
    // Recorders that stream write a length that is too large.
    if (name === "data") return bytesPerSecond > 0 ? Math.min(length, size - at - 8) / bytesPerSecond : undefined;
    at += 8 + length + (length % 2);
  }
  return undefined;
}

const CUE_END = /-->\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})/g;

/** End of the last cue of subtitles, in seconds; undefined for text without cues. */
export function cueSeconds(text: string): number | undefined {
  let end: number | undefined;
  for (const [, hours = "0", minutes, seconds, milliseconds] of text.matchAll(CUE_END)) {
    end = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000;
  }
  return end;
}
