// What the answer of a messages request needs of the request.
import { anyText, list, objects, text } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";
import { chatName } from "../parts/content/chat-name.ts";

export interface AskedMessage {
  readonly stops: ReadonlySet<unknown>;
  /**
   * The client's own names of tools by the names that are sent. They may be twice as long in Anthropic's protocol as
   * chat servers allow, and names of MCP tools often are.
   */
  readonly names: ReadonlyMap<string, string>;
}

export function readAsked(body: JsonObject): AskedMessage {
  const long = objects(body, "tools")
    .map((tool) => anyText(tool, "name"))
    .filter((name) => chatName(name) !== name);
  return { stops: new Set(list(body, "stop_sequences")), names: new Map(long.map((name) => [chatName(name), name])) };
}

/**
 * Returns the stop text that ended an answer. Servers of open models report it in members that the chat protocol does
 * not have: vLLM in `stop_reason`, SGLang in `matched_stop`; both also write other values there.
 */
export function metStop(choice: JsonObject | undefined, { stops }: AskedMessage): string | undefined {
  const known = text(choice, "fw_stop_sequence");
  if (known !== undefined) return known;
  return [text(choice, "stop_reason"), text(choice, "matched_stop")].find((met) => met && stops.has(met));
}
