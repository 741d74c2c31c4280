import { parseJson } from "../../lib/text/json.ts";
import { encodeBlock } from "../../lib/text/sse.ts";
import { anyText, compact, list, number, object, objects } from "../core/read.ts";
import type { JsonObject } from "../core/types.ts";
import { AnthropicTotals } from "./totals.ts";

/** Encodes a whole message as the events of a stream. */
export function encodeMessageEvents(message: JsonObject): Buffer {
  const usage = object(message, "usage") ?? {};
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(message["stop_details"] !== undefined && { stop_details: null }),
    usage: { ...usage, output_tokens: 0 },
  };
  const events: JsonObject[] = [{ type: "message_start", message: start }];
  objects(message, "content").forEach((block, index) => events.push(...toBlockEvents(block, index)));
  const delta = compact({
    stop_reason: message["stop_reason"] ?? "end_turn",
    stop_sequence: message["stop_sequence"] ?? null,
    stop_details: message["stop_details"],
    container: message["container"],
  });
  events.push({ type: "message_delta", delta, usage }, { type: "message_stop" });
  return Buffer.from(events.map((event) => encodeBlock(JSON.stringify(event), anyText(event, "type"))).join(""));
}

function toBlockEvents(block: JsonObject, index: number): JsonObject[] {
  const { empty, deltas } = dissolve(block);
  return [
    { type: "content_block_start", index, content_block: empty },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function dissolve(block: JsonObject): { empty: JsonObject; deltas: JsonObject[] } {
  switch (block["type"]) {
    case "text": {
      const { citations: _citations, ...rest } = block;
      const cited = list(block, "citations").map((citation) => ({ type: "citations_delta", citation }));
      return { empty: { ...rest, text: "" }, deltas: [{ type: "text_delta", text: anyText(block, "text") }, ...cited] };
    }
    case "thinking":
      return {
        empty: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          { type: "thinking_delta", thinking: anyText(block, "thinking") },
          { type: "signature_delta", signature: anyText(block, "signature") },
        ],
      };
    case "tool_use":
      return {
        empty: { ...block, input: {} },
        deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(block["input"] ?? {}) }],
      };
    default:
      return { empty: block, deltas: [] };
  }
}

/** Assembles the whole message from events; undefined if the first event is missing. */
export function assembleMessage(events: readonly JsonObject[]): JsonObject | undefined {
  let message: JsonObject | undefined;
  const blocks = new Map<number, JsonObject>();
  const totals = new AnthropicTotals();
  for (const event of events) {
    const index = number(event, "index") ?? 0;
    switch (event["type"]) {
      case "message_start":
        message = object(event, "message");
        totals.see(object(message, "usage"));
        break;
      case "content_block_start":
        blocks.set(index, { ...object(event, "content_block") });
        break;
      case "content_block_delta":
        extend(blocks.get(index), object(event, "delta") ?? {});
        break;
      case "message_delta":
        message = { ...message, ...object(event, "delta") };
        totals.see(object(event, "usage"));
        break;
      default:
    }
  }
  return message && { ...message, content: [...blocks.values()].map(finished), usage: totals.seen };
}

function extend(block: JsonObject | undefined, delta: JsonObject): void {
  if (block === undefined) return;
  switch (delta["type"]) {
    case "text_delta":
      block["text"] = anyText(block, "text") + anyText(delta, "text");
      break;
    case "thinking_delta":
      block["thinking"] = anyText(block, "thinking") + anyText(delta, "thinking");
      break;
    case "signature_delta":
      block["signature"] = anyText(block, "signature") + anyText(delta, "signature");
      break;
    case "input_json_delta":
      block["partial"] = anyText(block, "partial") + anyText(delta, "partial_json");
      break;
    case "citations_delta":
      block["citations"] = [...list(block, "citations"), delta["citation"] ?? null];
      break;
    default:
  }
}

/** Finishes a block: its arguments, which were collected as text, become its input. */
function finished({ partial, ...block }: JsonObject): JsonObject {
  const written = typeof partial === "string" ? partial : "";
  return written === "" ? block : { ...block, input: parseJson(written) ?? { arguments: written } };
}
