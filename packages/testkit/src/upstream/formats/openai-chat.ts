import { joinPieces, type ChatFormat, type Json, type Reply, type SseEvent, type ToolCall } from "../reply.ts";
import { openaiError } from "./openai-error.ts";

const CREATED = 1_780_000_000;

/** `/v1/chat/completions`. */
export const openaiChat: ChatFormat = {
  plain: (reply) => ({
    ...head(reply, "chat.completion"),
    choices: [{ index: 0, message: message(reply), logprobs: null, finish_reason: selectFinish(reply) }],
    ...(reply.usage && { usage: chatUsage(reply) }),
  }),
  *stream(reply, wantsUsage) {
    const chunk = (delta: Json, finish: string | null = null): SseEvent => ({
      data: JSON.stringify({
        ...head(reply, "chat.completion.chunk"),
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        ...(wantsUsage && { usage: null }),
      }),
    });
    yield chunk({ role: "assistant", content: "", refusal: null });
    for (const text of reply.reasoning) yield chunk({ reasoning_content: text });
    if (reply.refusal !== undefined) yield chunk({ refusal: reply.refusal });
    for (const text of reply.pieces) yield chunk({ content: text });
    for (const [index, call] of reply.toolCalls.entries()) {
      yield chunk({
        tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }],
      });
      for (const piece of call.argumentPieces) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    yield chunk({}, selectFinish(reply));
    if (wantsUsage && reply.usage) {
      yield { data: JSON.stringify({ ...head(reply, "chat.completion.chunk"), choices: [], usage: chatUsage(reply) }) };
    }
    yield { data: "[DONE]" };
  },
  error: openaiError,
  errorEvent: (text) => ({ data: JSON.stringify(openaiError(500, text)) }),
};

/** `/v1/completions`, the older text format. */
export const openaiCompletions: ChatFormat = {
  plain: (reply) => ({
    ...head(reply, "text_completion"),
    choices: [{ index: 0, text: joinPieces(reply), logprobs: null, finish_reason: selectFinish(reply) }],
    ...(reply.usage && { usage: chatUsage(reply) }),
  }),
  *stream(reply, wantsUsage) {
    const chunk = (text: string, finish: string | null): SseEvent => ({
      data: JSON.stringify({
        ...head(reply, "text_completion"),
        choices: [{ index: 0, text, logprobs: null, finish_reason: finish }],
      }),
    });
    for (const text of reply.pieces) yield chunk(text, null);
    yield chunk("", selectFinish(reply));
    if (wantsUsage && reply.usage) {
      yield { data: JSON.stringify({ ...head(reply, "text_completion"), choices: [], usage: chatUsage(reply) }) };
    }
    yield { data: "[DONE]" };
  },
  error: openaiError,
  errorEvent: (text) => ({ data: JSON.stringify(openaiError(500, text)) }),
};

function head(reply: Reply, object: string): Json {
  return { id: `chatcmpl-${reply.id}`, object, created: CREATED, model: reply.model, system_fingerprint: "fp_fake" };
}

function message(reply: Reply): Json {
  return {
    role: "assistant",
    content:
      joinPieces(reply) === "" && (reply.toolCalls.length > 0 || reply.refusal !== undefined)
        ? null
        : joinPieces(reply),
    refusal: reply.refusal ?? null,
    ...(reply.reasoning.length > 0 && { reasoning_content: reply.reasoning.join("") }),
    ...(reply.toolCalls.length > 0 && { tool_calls: reply.toolCalls.map(toolCall) }),
  };
}

function toolCall(call: ToolCall): Json {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.argumentPieces.join("") } };
}

function selectFinish(reply: Reply): string {
  return reply.toolCalls.length > 0 ? "tool_calls" : reply.finish;
}

function chatUsage(reply: Reply): Json {
  const { input, output, cached = 0 } = reply.usage ?? { input: 0, output: 0 };
  const reasoning = Math.min(output, reply.reasoning.length);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
