import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";

/** A tool whose calls in the client's protocol differ from chat's function calls. */
export interface SpecialTool {
  /**
   * `search` is the client's own search for further tools; `client` is a tool that OpenAI defines and the client runs.
   */
  readonly kind: "function" | "free text" | "search" | "client";
  readonly name: string;
  readonly namespace?: string;
}

/** What the answer of a Responses request needs of the request. */
export interface AskedResponse {
  /** Settings that a response object repeats. */
  readonly echo: JsonObject;
  /** Special tools by their upstream names. */
  readonly specialTools: ReadonlyMap<string, SpecialTool>;
}

export const NOTHING_ASKED: AskedResponse = { echo: {}, specialTools: new Map() };

/** What an answer is built with. */
export interface AnswerContext extends AskedResponse {
  readonly context: BridgeContext;
}
