import type { DialectId } from "../../../dialects/core/types.ts";
import { parseJson } from "../../../lib/text/json.ts";
import { BlockTooLargeError, encodeBlock } from "../../../lib/text/sse.ts";
import { createEventStreamDeframer } from "./event-stream.ts";
import type { Deframer } from "./deframer.ts";
import type { Framing } from "../types.ts";

/**
 * Creates the deframer of a framing; undefined = the stream already consists of server-sent events. A line or frame
 * larger than `maxBytes` throws.
 */
export function createDeframer(framing: Framing, dialect: DialectId, maxBytes: number): Deframer | undefined {
  switch (framing) {
    case "sse":
      return undefined;
    case "json-lines":
      return createLineDeframer((line) => (line.trim() === "" ? "" : encodeBlock(line.trim())), maxBytes);
    case "text-events":
      return createTextEventDeframer(maxBytes);
    case "aws-eventstream":
      return createEventStreamDeframer(dialect, maxBytes);
  }
}

const LF = 0x0a;

/**
 * Creates a deframer that passes whole lines. Only complete lines are decoded, so characters that are split between
 * chunks stay whole.
 */
function createLineDeframer(encode: (line: string) => string, maxBytes: number): Deframer {
  let rest: Buffer = Buffer.alloc(0);
  const take = (bytes: Buffer): Buffer | undefined => {
    const lines = bytes.toString("utf8").replace(/\n$/, "").split("\n");
    const text = lines.map((line) => encode(line.replace(/\r$/, ""))).join("");
    return text === "" ? undefined : Buffer.from(text);
  };
  return {
    push(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(LF) + 1;
      rest = bytes.subarray(end);
      if (rest.length > maxBytes) throw new BlockTooLargeError(maxBytes);
      return end === 0 ? undefined : take(bytes.subarray(0, end));
    },
    end() {
      const last = rest;
      rest = Buffer.alloc(0);
      return last.length === 0 ? undefined : take(last);
    },
  };
}

/**
 * Creates a deframer for events whose data lines are raw text, including leading blanks. The last event adds a `meta:`
 * line of JSON. Each event becomes `{event, id, text, meta}`.
 */
function createTextEventDeframer(maxBytes: number): Deframer {
  let fields = new Map<string, string[]>();
  const flush = (): string => {
    if (fields.size === 0) return "";
    const [event, id, meta] = ["event", "id", "meta"].map((name) => fields.get(name)?.[0]?.trim());
    const text = fields.get("data")?.join("\n") ?? "";
    fields = new Map();
    return encodeBlock(
      JSON.stringify({ event, id, text, meta: meta === undefined ? undefined : parseJson(meta) }),
      event,
    );
  };
  const lines = createLineDeframer((line) => {
    if (line === "") return flush();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    fields.set(name, [...(fields.get(name) ?? []), colon < 0 ? "" : line.slice(colon + 1)]);
    return "";
  }, maxBytes);
  return {
    push: (chunk) => lines.push(chunk),
    end() {
      const last = (lines.end()?.toString("utf8") ?? "") + flush();
      return last === "" ? undefined : Buffer.from(last);
    },
  };
}
