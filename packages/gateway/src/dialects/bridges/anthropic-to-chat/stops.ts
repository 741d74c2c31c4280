// The stop text that ended an answer: servers of open models report it in members that the chat protocol does not have.
import { list, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";

const asked = new WeakMap<BridgeContext, ReadonlySet<unknown>>();

export function noteStops(body: JsonObject, context: BridgeContext): void {
  const stops = list(body, "stop_sequences");
  if (stops.length > 0) asked.set(context, new Set(stops));
}

/** Returns the stop text. vLLM calls it `stop_reason` and SGLang `matched_stop`; both also write other values there. */
export function metStop(choice: JsonObject | undefined, context: BridgeContext): string | undefined {
  const known = text(choice, "fw_stop_sequence");
  if (known !== undefined) return known;
  const stops = asked.get(context);
  return [text(choice, "stop_reason"), text(choice, "matched_stop")].find((met) => met && stops?.has(met));
}
