import { isSet } from "../../read.ts";
import type { BridgeContext, JsonObject } from "../../types.ts";

/** Names the members that a conversion does not carry; those of other bridges and null count as absent. */
export function noteDropped(body: JsonObject, carried: ReadonlySet<string>, context: BridgeContext): void {
  for (const key of Object.keys(body)) {
    if (!carried.has(key) && !key.startsWith("fw_") && isSet(body[key])) context.dropped(key);
  }
}
