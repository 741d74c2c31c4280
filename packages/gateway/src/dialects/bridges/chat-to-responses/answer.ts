import { anyText, number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { readResponsesUsage } from "../../core/usage.ts";
import { chatAnswer, chatMessage, toolCall } from "../parts/answer/chat-answer.ts";
import { fenced } from "../parts/content/code-fence.ts";
import { buildLogprobs } from "../parts/answer/logprobs.ts";
import { showsCode } from "../parts/tools/code-runs.ts";
import { readItemRuns } from "../parts/tools/hosted-runs.ts";
import { sealReasoning } from "../parts/reasoning/sealed-reasoning.ts";

const UNFINISHED = /^(?:queued|in_progress|cancelled)$/;

/** Converts a response to a chat answer; throws for a response that is not finished. */
export function fromResponses(body: JsonObject, context: BridgeContext): JsonObject {
  if (UNFINISHED.test(anyText(body, "status"))) throw new Error("the response has not come to its end");
  const items = objects(body, "output");
  const parts = items.flatMap((item) => (isMessage(item) ? objects(item, "content") : runCodeParts(item, context)));
  const toolCalls = items.filter(isCall).map(toToolCall);
  const refusal = parts.map((part) => anyText(part, "refusal")).join("");
  const sealed = items.flatMap(listSealedReasoning);
  const runs = items.flatMap((item) => readItemRuns(item, context));
  const annotations = parts.flatMap((part) => objects(part, "annotations")).flatMap(toAnnotations);
  const message = chatMessage({
    content: parts.map((part) => anyText(part, "text")).join(""),
    reasoning: items.map(reasoningText).join(""),
    refusal: refusal === "" ? undefined : refusal,
    toolCalls,
    extra: {
      ...(runs.length > 0 && { fw_runs: runs }),
      ...(annotations.length > 0 && { annotations }),
      ...(sealed.length > 0 && { fw_thinking: sealed }),
    },
  });
  return chatAnswer(
    {
      head: readAnswerHead(body),
      choices: [{ message, ...buildLogprobs(parts), finish_reason: readFinishReason(body, toolCalls.length > 0) }],
      usage: readResponsesUsage(object(body, "usage")),
    },
    context,
  );
}

export function readAnswerHead(response: JsonObject | undefined) {
  return { id: text(response, "id"), model: text(response, "model"), created: number(response, "created_at") };
}

/** Returns code that the vendor ran, and its output, as text of the answer, for clients that have no item for it. */
export function runCodeParts(item: JsonObject, context: BridgeContext): JsonObject[] {
  if (item["type"] !== "code_interpreter_call" || showsCode(context)) return [];
  const logs = objects(item, "outputs").map((output) => anyText(output, "logs"));
  const texts = [
    fenced("python", anyText(item, "code")),
    ...logs.filter((log) => log !== "").map((log) => fenced("", log)),
  ];
  return texts.map((written) => ({ type: "output_text", text: written }));
}

export function isMessage(item: JsonObject): boolean {
  return item["type"] === "message";
}

export function isCall(item: JsonObject): boolean {
  return item["type"] === "function_call" || item["type"] === "custom_tool_call";
}

export function toToolCall(item: JsonObject): JsonObject {
  if (item["type"] === "custom_tool_call") {
    const custom = { name: anyText(item, "name"), input: anyText(item, "input") };
    return { id: anyText(item, "call_id", "id"), type: "custom", custom };
  }
  return toolCall(anyText(item, "call_id", "id"), anyText(item, "name"), anyText(item, "arguments"));
}

/** Returns encrypted reasoning, for clients that send signed thinking back. */
export function listSealedReasoning(item: JsonObject): JsonObject[] {
  const isSealed = item["type"] === "reasoning" && text(item, "encrypted_content") !== undefined;
  return isSealed ? [sealReasoning(item, reasoningText(item))] : [];
}

export function reasoningText(item: JsonObject): string {
  if (item["type"] !== "reasoning") return "";
  const summary = objects(item, "summary")
    .map((part) => anyText(part, "text"))
    .join("\n\n");
  return summary === ""
    ? objects(item, "content")
        .map((part) => anyText(part, "text"))
        .join("")
    : summary;
}

export function toAnnotations(annotation: JsonObject): JsonObject[] {
  if (annotation["type"] !== "url_citation") return [];
  const { type: _type, ...citation } = annotation;
  return [{ type: "url_citation", url_citation: citation }];
}

/** Returns how a response ended, whether it is whole or from the last event of a stream. */
export function readFinishReason(response: JsonObject | undefined, hasTools: boolean): string {
  const reason = text(object(response, "incomplete_details"), "reason");
  if (response?.["status"] === "incomplete") return reason === "content_filter" ? "content_filter" : "length";
  return hasTools ? "tool_calls" : "stop";
}
