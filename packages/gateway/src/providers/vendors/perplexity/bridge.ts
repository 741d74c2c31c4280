import type { Bridge, BridgeContext, StreamBridge } from "../../../dialects/core/bridge.ts";
import { statelessBridge } from "../../../dialects/core/stateless-bridge.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { compact, count, isObject, isObjectList, object, objects, text } from "../../../dialects/core/read.ts";
import { chatAnswer, ChunkWriter, toolCall, type ChatUsage } from "../../core/private/chat-writer.ts";
import { needed } from "../../core/private/needed.ts";
import { perplexityRequest } from "./request.ts";

/** Chat completions over the Agent API: the request holds items, the answer holds output items and searches. */
export const agentBridge: Bridge = statelessBridge({
  client: "openai-chat",
  upstream: "private:perplexity-agent",
  hosted: ["web_search_options"],
  request: perplexityRequest,
  response(body, context) {
    const output = needed(isObjectList(body["output"]) ? body["output"] : undefined);
    const content = output.flatMap((item) => (item["type"] === "message" ? objects(item, "content") : []));
    const calls = output.filter((item) => item["type"] === "function_call");
    return chatAnswer(
      {
        id: text(body, "id"),
        created: count(body, "created_at"),
        model: text(body, "model"),
        content: content.map((part) => text(part, "text") ?? "").join(""),
        toolCalls: calls.map((call) =>
          toolCall(text(call, "call_id") ?? "", text(call, "name") ?? "", text(call, "arguments") ?? ""),
        ),
        finish: readFinishReason(body, calls.length > 0),
        usage: perplexityUsage(body),
        extra: collectSearches(output),
      },
      context,
    );
  },
  stream: createStreamBridge,
});

function readFinishReason(body: JsonObject, hasCalls: boolean): string {
  if (hasCalls) return "tool_calls";
  if (body["status"] !== "incomplete") return "stop";
  return text(object(body, "incomplete_details"), "reason") === "content_filter" ? "content_filter" : "length";
}

function perplexityUsage(body: JsonObject): ChatUsage | undefined {
  const usage = object(body, "usage");
  const input = count(usage, "input_tokens");
  const output = count(usage, "output_tokens");
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cachedInput: count(object(usage, "input_tokens_details"), "cached_tokens"),
    reasoning: count(object(usage, "output_tokens_details"), "reasoning_tokens"),
  };
}

/** Collects `citations` and `search_results` at the top level, where Sonar had them. */
function collectSearches(output: readonly JsonObject[]): JsonObject {
  const results = output.flatMap((item) => (item["type"] === "search_results" ? objects(item, "results") : []));
  if (results.length === 0) return {};
  return {
    citations: results.flatMap((result) => text(result, "url") ?? []),
    search_results: results.map(({ title, url, date, last_updated, snippet, source }) =>
      compact({ title, url, date, last_updated, snippet, source }),
    ),
  };
}

type Step = (data: JsonObject) => StreamEvent[];

function createStreamBridge(context: BridgeContext): StreamBridge {
  const writer = new ChunkWriter(context, { hasOwnRoleChunk: true });
  const steps: Readonly<Record<string, Step>> = { ...textSteps(writer), ...callSteps(writer), ...endSteps(writer) };
  return {
    event({ data }) {
      if (!data || writer.isEnded) return [];
      const step = steps[text(data, "type") ?? ""];
      if (step) return step(data);
      return isObject(data["error"]) ? writer.fail(readFailure(data)) : [];
    },
    end: () => [],
  };
}

function textSteps(writer: ChunkWriter): Readonly<Record<string, Step>> {
  return {
    "response.created"(data) {
      const response = object(data, "response");
      writer.name({
        id: text(response, "id"),
        created: count(response, "created_at"),
        model: text(response, "model"),
      });
      return writer.start();
    },
    "response.output_text.delta": (data) => writer.delta({ content: text(data, "delta") ?? "" }),
  };
}

/**
 * Returns the steps for calls: a call begins with its header; some get all arguments at the end instead of in pieces.
 */
function callSteps(writer: ChunkWriter): Readonly<Record<string, Step>> {
  /** Output indexes of the calls whose header was sent, and whether arguments have arrived. */
  const calls = new Map<number, boolean>();
  const readOutputIndex = (data: JsonObject) => count(data, "output_index") ?? 0;
  const start = (data: JsonObject): StreamEvent[] => {
    const item = object(data, "item");
    if (item?.["type"] !== "function_call" || calls.has(readOutputIndex(data))) return [];
    calls.set(readOutputIndex(data), false);
    return writer.toolStart(text(item, "call_id") ?? "", text(item, "name") ?? "");
  };
  return {
    "response.output_item.added": start,
    "response.function_call_arguments.delta"(data) {
      calls.set(readOutputIndex(data), true);
      return writer.toolArguments(text(data, "delta") ?? "");
    },
    "response.output_item.done"(data) {
      const started = start(data);
      if (calls.get(readOutputIndex(data)) !== false) return started;
      return [...started, ...writer.toolArguments(text(object(data, "item"), "arguments") ?? "")];
    },
  };
}

function endSteps(writer: ChunkWriter): Readonly<Record<string, Step>> {
  const ended: Step = (data) => {
    const response = object(data, "response") ?? {};
    const extra = collectSearches(objects(response, "output"));
    return writer.end(readFinishReason(response, writer.toolCount > 0), perplexityUsage(response), extra);
  };
  const failed: Step = (data) => writer.fail(readFailure(data));
  return {
    "response.completed": ended,
    "response.incomplete": ended,
    "response.failed": failed,
    "response.cancelled": failed,
    error: failed,
  };
}

function readFailure(data: JsonObject): { message: string; type: string | undefined; code: string | undefined } {
  const error = object(data, "error") ?? object(object(data, "response"), "error") ?? data;
  return {
    message: text(error, "message") ?? "The upstream failed.",
    type: text(error, "type"),
    code: text(error, "code"),
  };
}
