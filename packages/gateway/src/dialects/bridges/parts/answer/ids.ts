import { randomText } from "../../../../lib/ids.ts";
import type { BridgeContext } from "../../../core/bridge.ts";

/** Returns an id for a tool call whose upstream sent none. */
export function newCallId(): string {
  return `call_${randomText(24)}`;
}

/** Returns an id for a chat answer whose upstream sent none. */
export function chatId(context: BridgeContext): string {
  return `chatcmpl-${context.requestId}`;
}

/** Returns the id of an answer with the prefix that clients of another protocol expect. */
export function withPrefix(id: string | undefined, prefix: string, context: BridgeContext): string {
  if (id?.startsWith(prefix) === true) return id;
  const bare = id?.replace(/^(chatcmpl-|resp_|msg_)/, "");
  return prefix + (bare === undefined || bare === "" ? context.requestId : bare);
}
