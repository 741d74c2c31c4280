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

/** State of a converted request that its answer needs. */
export interface ResponsesState {
  /** Settings that a response object repeats. */
  readonly echo: JsonObject;
  /** Special tools by their upstream names. */
  readonly specialTools: ReadonlyMap<string, SpecialTool>;
}

const states = new WeakMap<BridgeContext, ResponsesState>();
const NONE: ResponsesState = { echo: {}, specialTools: new Map() };

export function remember(context: BridgeContext, state: ResponsesState): void {
  states.set(context, state);
}

export function recall(context: BridgeContext): ResponsesState {
  return states.get(context) ?? NONE;
}
