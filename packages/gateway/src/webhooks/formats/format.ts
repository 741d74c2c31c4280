import { parseObject } from "../../lib/text/json.ts";
import type { Posted } from "../../lib/net/post-once.ts";
import type { TextMessage } from "../texts/render.ts";
import type { EndpointFormat, StoredEvent, Target } from "../types.ts";
import { cutCharacters } from "./escape.ts";

/** The title of a section that does not fit with its lines. */
const MAX_LONE_TITLE = 150;

/** What a format makes a message of. */
export interface Outgoing {
  readonly target: Target;
  /** At least one, in order. */
  readonly events: readonly StoredEvent[];
  readonly text: TextMessage;
  readonly nowMs: number;
  /** 0 = the first delivery. */
  readonly redelivery: number;
  readonly serverAddress: string;
}

export interface FormatRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Format {
  readonly name: EndpointFormat;
  /** False: each event is sent alone. */
  readonly isText: boolean;
  /** Milliseconds between two messages to one endpoint, by the limits of the receiver. */
  readonly pauseMs: number;
  build(outgoing: Outgoing): FormatRequest;
  /** Returns why an answer with status 2xx is a failure all the same. */
  judge?(answer: Posted): string | undefined;
}

export const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" } as const;

interface Layout {
  readonly escape: (text: string) => string;
  readonly bold: (escaped: string) => string;
  readonly line: (escaped: string) => string;
  readonly fits: (text: string) => boolean;
  readonly more: string;
}

/**
 * Writes the sections as one text. Sections that do not fit are left out as a whole, so that no sign of the format is
 * cut, and a line says so.
 */
export function layOut({ sections }: TextMessage, { escape, bold, line, fits, more }: Layout): string {
  let text = "";
  for (const { title, lines } of sections) {
    const part = [bold(escape(title)), ...lines.map((one) => line(escape(one)))].join("\n");
    const next = text === "" ? part : `${text}\n\n${part}`;
    if (!fits(`${next}\n\n${more}`))
      return text === "" ? bold(escape(cutCharacters(title, MAX_LONE_TITLE))) : `${text}\n\n${more}`;
    text = next;
  }
  return text;
}

/** Reads a member of a JSON answer. */
export function readMember(answer: Posted, name: string): unknown {
  return parseObject(answer.text)?.[name];
}
