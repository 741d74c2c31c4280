import type { JsonObject } from "../../core/types.ts";
import { text } from "../../core/read.ts";
import { chatName } from "../parts/content/chat-name.ts";

/** What the client's own search for tools is called upstream, where it is a function like others. */
export const SEARCH = "tool_search";

/** What a tool is called upstream, where a name is all there is: its own, behind that of its namespace. */
export function upstreamName(name: string, namespace: string | undefined): string {
  if (namespace === undefined || namespace === "") return chatName(name);
  return chatName(`${namespace.replace(/_+$/, "")}__${name}`.replaceAll(/[^\w-]/g, "_"));
}

/** What the tool of a call, or of a choice, is called upstream. */
export function upstreamNameOf(item: JsonObject): string | undefined {
  const name = text(item, "name");
  return name === undefined ? undefined : upstreamName(name, text(item, "namespace"));
}
