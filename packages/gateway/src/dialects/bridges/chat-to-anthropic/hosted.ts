import { compact, object } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { buildMcpToolset } from "../parts/tools/mcp-servers.ts";
import { noteOptions } from "../parts/tools/hosted-tools.ts";

const SEARCHED = ["max_uses", "allowed_domains", "blocked_domains"];
const LOCATION = ["city", "region", "country", "timezone"];

/** Returns Anthropic's tool for a kind of hosted tool. */
export function toHostedTool(tool: JsonObject, context: BridgeContext): JsonObject {
  const options = compact(Object.fromEntries(SEARCHED.map((name) => [name, tool[name] ?? undefined])));
  switch (tool["kind"]) {
    case "web_search":
      noteOptions(tool, [...SEARCHED, "user_location"], context);
      return compact({
        type: "web_search_20250305",
        name: "web_search",
        ...options,
        user_location: readUserLocation(tool),
      });
    case "web_fetch":
      noteOptions(tool, SEARCHED, context);
      return { type: "web_fetch_20250910", name: "web_fetch", ...options };
    case "mcp":
      return buildMcpToolset(tool);
    default:
      noteOptions(tool, [], context);
      return { type: "code_execution_20250825", name: "code_execution" };
  }
}

/** Returns the user's location, which both vendors write in the same form. */
export function readUserLocation(tool: JsonObject): JsonObject | undefined {
  const place = object(tool, "user_location");
  if (place === undefined) return undefined;
  return compact({
    type: "approximate",
    ...Object.fromEntries(LOCATION.map((name) => [name, place[name] ?? undefined])),
  });
}
