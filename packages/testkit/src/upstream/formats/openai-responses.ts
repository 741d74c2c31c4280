import type { TokenCounts } from "../behaviour.ts";
import { SIGNATURE, joinPieces, type ChatFormat, type Json, type Reply, type SseEvent } from "../reply.ts";
import { openaiError } from "./openai-error.ts";

const CREATED = 1_780_000_000;

/** `/v1/responses`. */
export const openaiResponses: ChatFormat = {
  plain: (reply) => response(reply, reply.finish === "length" ? "incomplete" : "completed", buildOutput(reply)),
  *stream(reply) {
    let sequence = 0;
    for (const event of events(reply))
      yield { name: String(event["type"]), data: JSON.stringify({ ...event, sequence_number: sequence++ }) };
  },
  error: openaiError,
  errorEvent: (message): SseEvent => ({
    name: "error",
    data: JSON.stringify({ type: "error", code: "server_error", message, param: null, sequence_number: 0 }),
  }),
};

function* events(reply: Reply): Generator<Json> {
  yield { type: "response.created", response: response(reply, "in_progress", []) };
  yield { type: "response.in_progress", response: response(reply, "in_progress", []) };
  const output = buildOutput(reply);
  for (const [index, item] of output.entries()) {
    if (item["type"] === "message") yield* messageEvents(reply, item, index);
    else if (item["type"] === "function_call") yield* callEvents(reply, item, index);
    else yield* reasoningEvents(reply, item, index);
  }
  const status = reply.finish === "length" ? "incomplete" : "completed";
  yield { type: `response.${status}`, response: response(reply, status, output) };
}

function* messageEvents(reply: Reply, item: Json, index: number): Generator<Json> {
  const at = { item_id: item["id"], output_index: index, content_index: 0 };
  const { refusal } = reply;
  const isRefusal = refusal !== undefined;
  const key = isRefusal ? "refusal" : "text";
  const name = isRefusal ? "response.refusal" : "response.output_text";
  const part = buildPart(reply);
  yield {
    type: "response.output_item.added",
    output_index: index,
    item: { ...item, status: "in_progress", content: [] },
  };
  yield { type: "response.content_part.added", ...at, part: { ...part, [key]: "" } };
  for (const delta of isRefusal ? [refusal] : reply.pieces) yield { type: `${name}.delta`, ...at, delta };
  yield { type: `${name}.done`, ...at, [key]: part[key] };
  yield { type: "response.content_part.done", ...at, part };
  yield { type: "response.output_item.done", output_index: index, item };
}

function buildPart(reply: Reply): Json {
  if (reply.refusal !== undefined) return { type: "refusal", refusal: reply.refusal };
  return { type: "output_text", text: joinPieces(reply), annotations: [], logprobs: [] };
}

function* callEvents(reply: Reply, item: Json, index: number): Generator<Json> {
  const call = reply.toolCalls.find((candidate) => candidate.id === item["call_id"]);
  const at = { item_id: item["id"], output_index: index };
  yield {
    type: "response.output_item.added",
    output_index: index,
    item: { ...item, status: "in_progress", arguments: "" },
  };
  for (const delta of call?.argumentPieces ?? [])
    yield { type: "response.function_call_arguments.delta", ...at, delta };
  yield { type: "response.function_call_arguments.done", ...at, arguments: item["arguments"], name: item["name"] };
  yield { type: "response.output_item.done", output_index: index, item };
}

function* reasoningEvents(reply: Reply, item: Json, index: number): Generator<Json> {
  const at = { item_id: item["id"], output_index: index, summary_index: 0 };
  const text = reply.reasoning.join("");
  yield { type: "response.output_item.added", output_index: index, item: { ...item, summary: [] } };
  yield { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } };
  for (const delta of reply.reasoning) yield { type: "response.reasoning_summary_text.delta", ...at, delta };
  yield { type: "response.reasoning_summary_text.done", ...at, text };
  yield { type: "response.reasoning_summary_part.done", ...at, part: { type: "summary_text", text } };
  yield { type: "response.output_item.done", output_index: index, item };
}

function buildOutput(reply: Reply): Json[] {
  const reasoning: Json = {
    id: `rs_${reply.id}`,
    type: "reasoning",
    summary: [{ type: "summary_text", text: reply.reasoning.join("") }],
    encrypted_content: SIGNATURE,
  };
  const message: Json = {
    id: `msg_${reply.id}`,
    type: "message",
    role: "assistant",
    status: "completed",
    content: [buildPart(reply)],
  };
  const calls = reply.toolCalls.map((call) => ({
    id: `fc_${call.id}`,
    type: "function_call",
    status: "completed",
    call_id: call.id,
    name: call.name,
    ...(call.namespace && { namespace: call.namespace }),
    arguments: call.argumentPieces.join(""),
  }));
  const isSilent = calls.length > 0 && joinPieces(reply) === "";
  return [...(reply.reasoning.length > 0 ? [reasoning] : []), ...(isSilent ? [] : [message]), ...calls];
}

function response(reply: Reply, status: string, output: readonly Json[]): Json {
  const isOver = status !== "in_progress";
  return {
    id: `resp_${reply.id}`,
    object: "response",
    created_at: CREATED,
    status,
    error: null,
    model: reply.model,
    output,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    tool_choice: "auto",
    tools: [],
    usage: isOver && reply.usage ? responsesUsage(reply.usage, reply.reasoning.length) : null,
  };
}

function responsesUsage({ input, output, cached = 0 }: TokenCounts, reasoning: number): Json {
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: cached },
    output_tokens_details: { reasoning_tokens: Math.min(output, reasoning) },
  };
}
