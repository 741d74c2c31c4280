import { randomText } from "../../../../lib/ids.ts";
import type { BridgeContext } from "../../../core/types.ts";

/** Id of a tool call whose upstream gave none. */
export function newCallId(): string {
  return `call_${randomText(24)}`;
}

/** Id of a chat answer whose upstream gave none. */
export function chatId(context: BridgeContext): string {
  return `chatcmpl-${context.requestId}`;
}

/** The id of an answer under the prefix that clients of another protocol expect. */
export function withPrefix(id: string | undefined, prefix: string, context: BridgeContext): string {
  if (id?.startsWith(prefix) === true) return id;
  const bare = id?.replace(/^(chatcmpl-|resp_|msg_)/, "");
  return prefix + (bare === undefined || bare === "" ? context.requestId : bare);
}
