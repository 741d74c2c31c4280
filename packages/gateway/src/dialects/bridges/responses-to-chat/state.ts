import type { BridgeContext, JsonObject } from "../../types.ts";

/** What the answer of a converted request needs to know about it. */
export interface ResponsesState {
  /** Settings that a response object repeats. */
  readonly echo: JsonObject;
  /** Tools whose input is free text; upstream they are functions with one argument. */
  readonly customTools: ReadonlySet<string>;
}

const states = new WeakMap<BridgeContext, ResponsesState>();
const NONE: ResponsesState = { echo: {}, customTools: new Set() };

export function remember(context: BridgeContext, state: ResponsesState): void {
  states.set(context, state);
}

export function recall(context: BridgeContext): ResponsesState {
  return states.get(context) ?? NONE;
}
