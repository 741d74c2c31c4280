import type { JsonObject } from "../../lib/text/json.ts";

/** The protocol in which clients and upstreams speak about batches. */
export type BatchProtocolId = "anthropic" | "gemini" | "openai";

/** How a vendor writes the objects of a protocol in its own way. */
export interface BatchForm {
  /** Returns the vendor's body for a creation of the protocol. */
  writeCreation(asked: JsonObject, model: string): JsonObject;
  /** Returns a batch of the vendor as the protocol writes it. */
  readBatch(batch: JsonObject): JsonObject;
  /** The parameter that says how long a page of the list may be; absent = the list has no pages. */
  readonly pageParameter?: string;
}

/** What a vendor's batch API has of its own, besides its protocol. */
export interface BatchSupport {
  readonly protocol: BatchProtocolId;
  /** Path of the list of batches; it may end with a query. */
  readonly path: string;
  readonly maxItems: number;
  readonly maxBytes: number;
  /** Paths that items may call, if the client names one; absent = the protocol has only one. */
  readonly endpoints?: readonly string[];
  /** Values of `completion_window`. */
  readonly windows?: readonly string[];
  /** Absent = the vendor writes the protocol as it is. */
  readonly form?: BatchForm;
}

const MEBIBYTE = 1024 * 1024;

/** OpenAI's own batches, and those of servers that copy them whole. */
export const OPENAI_BATCHES: BatchSupport = {
  protocol: "openai",
  path: "/v1/batches",
  maxItems: 50_000,
  maxBytes: 200 * MEBIBYTE,
  endpoints: [
    "/v1/responses",
    "/v1/chat/completions",
    "/v1/embeddings",
    "/v1/completions",
    "/v1/moderations",
    "/v1/images/generations",
    "/v1/images/edits",
  ],
  windows: ["24h"],
};
