import type { BridgeContext, JsonObject } from "../../core/types.ts";

/** A tool that its client calls in another way than chat calls a function. */
export interface SpecialTool {
  /** `search` is the client's own search for further tools, `client` one that OpenAI defines and the client runs. */
  readonly kind: "function" | "free text" | "search" | "client";
  readonly name: string;
  readonly namespace?: string;
}

/** State of a converted request that its answer needs. */
export interface ResponsesState {
  /** Settings that a response object repeats. */
  readonly echo: JsonObject;
  /** By their names upstream. */
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
