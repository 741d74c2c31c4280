// What a conversion between two dialects implements, and what it is given.
import type { DialectId, JsonObject, RequestSpec, StreamEvent, Usage } from "./types.ts";

/** What is known about one attempt; both directions of its conversion read it. */
export interface BridgeContext {
  readonly spec: RequestSpec;
  readonly upstreamModel: string;
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Reports a field that could not be carried; the names go to the log row and, on request, to a header. */
  dropped(field: string): void;
  /** Channel settings that shape a conversion (regions, plug-ins). */
  readonly setting: JsonObject;
  /** Set if the answer is stored for later requests. */
  readonly pending?: PendingAnswer | undefined;
  /** The features of the server that is called in the chat protocol. */
  readonly chatServer?: ChatServer | undefined;
}

/** The features of a chat server that differ from the protocol. */
export interface ChatServer {
  /** Set if the server reads `top_k`, which others refuse. */
  readonly takesTopK?: true;
  /** The most stop texts of one request; default: 4. */
  readonly maxStops?: number;
}

/** An answer that is stored for later requests. */
export interface PendingAnswer {
  /** Id of the response that the request continues from. */
  readonly previous: string | undefined;
  /** Called with the whole answer when it is complete, before it is known whether it reaches the client. */
  made(answer: JsonObject): void;
}

export interface StreamBridge {
  /** Returns the events for the client; an empty list swallows the event. */
  event(event: StreamEvent): StreamEvent[];
  /**
   * Called after the upstream's regular end; closes everything that is open. `counted` replaces usage that the upstream
   * did not report, or did not report in the protocol's member.
   */
  end(counted?: Usage): StreamEvent[];
}

export interface ToolNameRule {
  /** The maximum length. */
  readonly most: number;
  /** Matches the characters that a name may not contain; a global expression. */
  readonly forbidden: RegExp;
  readonly first: RegExp;
}

/** Kinds of hosted tools, independent of vendors' names for them. */
export type HostedKind = "web_search" | "web_fetch" | "code_execution" | "mcp";

/** A way between two dialects. Two of them over the pivot `openai-chat` connect any pair. */
export interface Bridge {
  readonly client: DialectId;
  readonly upstream: DialectId;
  /** Hosted tools that the bridge converts; `web_search_options` if it reads that member of chat itself. */
  readonly hosted?: readonly (HostedKind | "web_search_options")[];
  /** The tool names that the upstream accepts; default: up to 64 characters of `[a-zA-Z0-9_-]`. */
  readonly toolNames?: ToolNameRule;
  /** Begins the conversion of one attempt. */
  begin(context: BridgeContext): Conversion;
}

/**
 * The conversion of one attempt: first its request, then its answer, whole or as a stream. What an answer needs of its
 * request is the conversion's own state. Each method throws if the content cannot be converted.
 */
export interface Conversion {
  request(body: JsonObject): JsonObject;
  response(body: JsonObject): JsonObject;
  stream(): StreamBridge;
}
