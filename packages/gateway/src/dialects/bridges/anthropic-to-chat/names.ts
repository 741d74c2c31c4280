// Tool names may be twice as long in Anthropic's protocol as chat servers allow, and names of MCP tools often are.
import { anyText, objects } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { chatName } from "../parts/content/chat-name.ts";

const shortened = new WeakMap<BridgeContext, ReadonlyMap<string, string>>();

export function noteLongNames(body: JsonObject, context: BridgeContext): void {
  const long = objects(body, "tools")
    .map((tool) => anyText(tool, "name"))
    .filter((name) => chatName(name) !== name);
  if (long.length > 0) shortened.set(context, new Map(long.map((name) => [chatName(name), name])));
}

/** Returns the name that the client gave the tool. */
export function ownName(name: string, context: BridgeContext): string {
  return shortened.get(context)?.get(name) ?? name;
}
