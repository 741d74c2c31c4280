// A client may search for its tools itself: the search is a call, and the tools that it found are offered from then on.
import { anyText, objects, text } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";
import { upstreamName } from "./tool-names.ts";

/** True for a client's own search; the vendor's searches have no call id. */
export function isSearch(item: JsonObject): boolean {
  return item["type"] === "tool_search_call" && text(item, "call_id") !== undefined;
}

export function isFound(item: JsonObject): boolean {
  return item["type"] === "tool_search_output" && text(item, "call_id") !== undefined;
}

/** Returns the text of a search result for the model: the names that it can call now. */
export function foundText(item: JsonObject): string {
  const names = objects(item, "tools").flatMap((tool) =>
    tool["type"] === "namespace"
      ? objects(tool, "tools").map((member) => upstreamName(anyText(member, "name"), text(tool, "name")))
      : [anyText(tool, "name")],
  );
  return JSON.stringify({ tools: names });
}
