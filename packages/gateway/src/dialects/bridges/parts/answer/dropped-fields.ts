import { isSet, objects } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";
import { listThinkingBlocks } from "../reasoning/thinking.ts";

/** Reports the members that a conversion does not carry; null and the members of other bridges count as absent. */
export function noteDropped(body: JsonObject, carried: ReadonlySet<string>, context: BridgeContext): void {
  for (const key of Object.keys(body)) {
    if (!carried.has(key) && !key.startsWith("fw_") && isSet(body[key])) context.dropped(key);
  }
}

/** Reports the dropped members of one part of a request, under the part's name. */
export function noteDroppedIn(
  name: string,
  part: JsonObject | undefined,
  carried: ReadonlySet<string>,
  context: BridgeContext,
): void {
  for (const key of Object.keys(part ?? {})) {
    if (!carried.has(key) && isSet(part?.[key])) context.dropped(`${name}.${key}`);
  }
}

/** Reports content that only one vendor can read: cache marks, thinking that it signed, sound that it stores. */
export function noteForeign(messages: readonly JsonObject[], context: BridgeContext): void {
  const isMarked = (holder: JsonObject) => isSet(holder["cache_control"]) || isSet(holder["fw_cache_control"]);
  if (messages.some((message) => isMarked(message) || objects(message, "content").some(isMarked)))
    context.dropped("cache_control");
  if (messages.some((message) => isSet(message["audio"]))) context.dropped("messages.audio");
  if (messages.some((message) => listThinkingBlocks(message).length > 0)) context.dropped("messages.thinking");
}
