import { decodePercent } from "../../../../lib/text/percent-encoding.ts";

export interface InlineData {
  readonly mediaType: string;
  /** Base64 without line breaks. */
  readonly data: string;
}

const HEAD = /^data:([^;,]*)((?:;[^;,]*)*),/i;

/** Parses a `data:` URL; undefined for other URLs. Text in percent notation is converted to base64. */
export function parseDataUrl(url: string): InlineData | undefined {
  const found = HEAD.exec(url);
  if (found === null) return undefined;
  const mediaType = found[1] === "" ? "text/plain" : (found[1] ?? "").toLowerCase();
  const rest = url.slice(found[0].length);
  if (/;base64/i.test(found[2] ?? "")) return { mediaType, data: rest.replace(/\s+/g, "") };
  return { mediaType, data: Buffer.from(decodePercent(rest) ?? rest).toString("base64") };
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}
