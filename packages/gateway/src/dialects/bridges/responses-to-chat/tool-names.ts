import type { JsonObject } from "../../core/types.ts";
import { text } from "../../core/read.ts";
import { chatName } from "../parts/content/chat-name.ts";

/** The upstream name of the client's tool search, which is a plain function there. */
export const SEARCH = "tool_search";

/** Returns a tool's upstream name: its own name, prefixed with that of its namespace. */
export function upstreamName(name: string, namespace: string | undefined): string {
  if (namespace === undefined || namespace === "") return chatName(name);
  return chatName(`${namespace.replace(/_+$/, "")}__${name}`.replaceAll(/[^\w-]/g, "_"));
}

/** Returns the upstream name of the tool of a call or a choice. */
export function readUpstreamName(item: JsonObject): string | undefined {
  const name = text(item, "name");
  return name === undefined ? undefined : upstreamName(name, text(item, "namespace"));
}
