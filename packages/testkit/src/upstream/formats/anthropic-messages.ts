import { SIGNATURE, joinPieces, type ChatFormat, type Json, type Reply, type SseEvent } from "../reply.ts";

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};
const STOP_REASONS = { stop: "end_turn", length: "max_tokens", content_filter: "refusal" } as const;

/** `/v1/messages`. */
export const anthropicMessages: ChatFormat = {
  plain: (reply) => ({
    ...head(reply),
    content: buildBlocks(reply),
    stop_reason: stopReason(reply),
    usage: anthropicUsage(reply),
  }),
  *stream(reply) {
    for (const event of events(reply)) yield { name: String(event["type"]), data: JSON.stringify(event) };
  },
  error,
  errorEvent: (message): SseEvent => ({
    name: "error",
    data: JSON.stringify({ type: "error", error: { type: "overloaded_error", message } }),
  }),
};

function error(status: number, message: string): Json {
  return { type: "error", error: { type: ERROR_TYPES[status] ?? "api_error", message }, request_id: "req_fake" };
}

function* events(reply: Reply): Generator<Json> {
  yield {
    type: "message_start",
    message: { ...head(reply), content: [], stop_reason: null, usage: { ...anthropicUsage(reply), output_tokens: 1 } },
  };
  yield { type: "ping" };
  for (const [index, block] of buildBlocks(reply).entries()) {
    yield { type: "content_block_start", index, content_block: emptied(block) };
    for (const delta of buildDeltas(reply, block)) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }
  const delta = { stop_reason: stopReason(reply), stop_sequence: null };
  yield { type: "message_delta", delta, ...(reply.usage && { usage: { output_tokens: reply.usage.output } }) };
  yield { type: "message_stop" };
}

function* buildDeltas(reply: Reply, block: Json): Generator<Json> {
  if (block["type"] === "text") {
    for (const text of reply.refusal === undefined ? reply.pieces : [reply.refusal]) yield { type: "text_delta", text };
  } else if (block["type"] === "thinking") {
    for (const thinking of reply.reasoning) yield { type: "thinking_delta", thinking };
    yield { type: "signature_delta", signature: block["signature"] };
  } else {
    const call = reply.toolCalls.find((candidate) => candidate.id === block["id"]);
    for (const piece of call?.argumentPieces ?? []) yield { type: "input_json_delta", partial_json: piece };
  }
}

function emptied(block: Json): Json {
  if (block["type"] === "text") return { ...block, text: "" };
  if (block["type"] === "thinking") return { ...block, thinking: "", signature: "" };
  return { ...block, input: {} };
}

function buildBlocks(reply: Reply): Json[] {
  const thinking: Json[] =
    reply.reasoning.length > 0 ? [{ type: "thinking", thinking: reply.reasoning.join(""), signature: SIGNATURE }] : [];
  const calls = reply.toolCalls.map((call) => ({
    type: "tool_use",
    id: call.id,
    name: call.name,
    input: JSON.parse(call.argumentPieces.join("")) as Json,
  }));
  const text = reply.refusal ?? joinPieces(reply);
  return [...thinking, ...(text === "" && calls.length > 0 ? [] : [{ type: "text", text }]), ...calls];
}

function head(reply: Reply): Json {
  return { id: `msg_${reply.id}`, type: "message", role: "assistant", model: reply.model, stop_sequence: null };
}

function stopReason(reply: Reply): string {
  if (reply.refusal !== undefined) return "refusal";
  return reply.toolCalls.length > 0 ? "tool_use" : STOP_REASONS[reply.finish];
}

/** The format has no answer without usage, so `no-usage` leaves out the counters. */
function anthropicUsage(reply: Reply): Json {
  if (!reply.usage) return {};
  const { input, cached = 0 } = reply.usage;
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: reply.usage.output,
  };
}
