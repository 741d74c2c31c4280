// What a cell of the grid sends and sees, independent of the protocol.
import type { Json } from "../src/upstream/reply.ts";

export type { Json } from "../src/upstream/reply.ts";

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

export type Turn =
  | { readonly role: "user"; readonly text: string; readonly image?: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls?: readonly Call[] }
  | { readonly role: "results"; readonly results: readonly { readonly call: Call; readonly text: string }[] }
  /** An earlier answer, returned unchanged. */
  | { readonly role: "echo"; readonly turn: readonly Json[] };

export interface GridRequest {
  readonly system?: string;
  readonly turns: readonly Turn[];
  readonly hasTools?: boolean;
  readonly schema?: Json;
  readonly stop?: string;
  readonly thinks?: boolean;
  /** The tool that has to be called. */
  readonly choice?: string;
}

export type Finish = "stop" | "length" | "tool_calls" | "content_filter";

/** An answer as a client parsed it. */
export interface Seen {
  readonly text: string;
  readonly refusal: string;
  readonly thinking: string;
  readonly calls: readonly Call[];
  readonly finish: Finish | undefined;
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number } | undefined;
  /** The answer in the client's protocol, to be sent back. */
  readonly turn: readonly Json[];
  /** False if the client noticed that the answer was incomplete. */
  readonly isComplete: boolean;
  /** Message of the error that the answer is, or that ended it. */
  readonly error: string | undefined;
}

export interface Answer extends Seen {
  readonly status: number;
  readonly retryAfter: string | null;
}

/** One client protocol. */
export interface Client {
  readonly name: string;
  readonly hasStopTexts: boolean;
  request(asked: GridRequest, model: string, isStream: boolean): { readonly path: string; readonly body: Json };
  /** A whole answer. */
  read(answer: Json): Seen;
  /** Reads the data of a stream's events; `isWhole` = the body ended as HTTP requires. */
  readStream(events: readonly StreamData[], isWhole: boolean): Seen;
  /** Returns the message of an error in the envelope of this protocol; undefined if it is not an error. */
  findErrorMessage(answer: Json): string | undefined;
}

export interface StreamData {
  readonly event: string | undefined;
  readonly data: Json | "[DONE]";
}

/** A request that an upstream received. */
export interface Got {
  readonly system: string;
  /** Texts of the turns, in order. */
  readonly texts: readonly string[];
  readonly images: readonly string[];
  readonly tools: readonly string[];
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly results: readonly string[];
  /** How many turns hold results: protocols with turns want the results of one answer in one turn. */
  readonly resultTurns: number;
  /** The tool that has to be called. */
  readonly choice: string;
  readonly schema: unknown;
  readonly stop: readonly string[];
  readonly thinking: string;
  readonly signatures: readonly string[];
}

export const NOTHING_SEEN: Seen = {
  text: "",
  refusal: "",
  thinking: "",
  calls: [],
  finish: undefined,
  usage: undefined,
  turn: [],
  isComplete: false,
  error: undefined,
};
