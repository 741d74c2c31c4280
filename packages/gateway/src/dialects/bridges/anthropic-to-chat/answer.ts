import { anyText, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { anthropicUsage, readChatUsage, toUsage } from "../../core/usage.ts";
import { readArguments, parseArguments } from "../parts/tools/arguments.ts";
import { readThought, formatMessage } from "../parts/answer/finish-words.ts";
import { anthropicStop } from "../parts/answer/finish.ts";
import { newCallId, withPrefix } from "../parts/answer/ids.ts";
import { buildRunBlocks, listHostedRuns } from "../parts/tools/hosted-runs.ts";
import { metStop, type AskedMessage } from "./asked.ts";

/** Converts a chat answer to a message. */
export function fromChat(body: JsonObject, context: BridgeContext, asked: AskedMessage): JsonObject {
  const choice = objects(body, "choices")[0];
  const message = object(choice, "message");
  const calls = listToolCalls(message);
  const runs = listHostedRuns(message);
  const finish = text(choice, "finish_reason");
  const stopSequence = metStop(choice, asked);
  const hasRefused = anyText(message, "refusal") !== "" && finish !== "length";
  const usage = readChatUsage(object(body, "usage")) ?? toUsage({});
  return {
    id: withPrefix(text(body, "id"), "msg_", context),
    type: "message",
    role: "assistant",
    model: text(body, "model") ?? context.spec.model,
    content: [
      ...thinkingBlocks(message),
      ...runs.flatMap((run, at) => buildRunBlocks(run, at, context)),
      ...textBlocks(message),
      ...calls.map((call) => toolUse(call, asked)),
    ],
    ...buildStopMembers({ finish, hasTools: calls.length > 0, hasRefused, stopSequence }),
    diagnostics: null,
    usage: { ...anthropicUsage(usage), ...searchesIn(runs) },
  };
}

/** Returns the number of searches, for the usage of a message. */
export function searchesIn(runs: readonly JsonObject[]): JsonObject {
  const web_search_requests = runs.filter(({ kind }) => kind === "web_search").length;
  return web_search_requests === 0 ? {} : { server_tool_use: { web_search_requests, web_fetch_requests: 0 } };
}

export interface Completion {
  readonly finish: string | undefined;
  readonly hasTools: boolean;
  readonly hasRefused: boolean;
  readonly stopSequence: string | undefined;
}

/** Returns the members that say how a message ended; none of them is optional. */
export function buildStopMembers(completion: Completion): JsonObject {
  const reason = stopReason(completion);
  return {
    stop_reason: reason,
    stop_sequence: completion.stopSequence ?? null,
    stop_details: reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null,
    container: null,
  };
}

function stopReason({ finish, hasTools, hasRefused, stopSequence }: Completion): string {
  if (stopSequence !== undefined) return "stop_sequence";
  return hasRefused ? "refusal" : anthropicStop(finish, hasTools);
}

function listToolCalls(message: JsonObject | undefined): readonly JsonObject[] {
  const legacy = object(message, "function_call");
  return legacy === undefined
    ? objects(message, "tool_calls")
    : [...objects(message, "tool_calls"), { function: legacy }];
}

/** Returns thinking blocks. Thinking without a signature is shown, but Anthropic cannot continue it. */
function thinkingBlocks(message: JsonObject | undefined): JsonObject[] {
  const signed = objects(message, "fw_thinking");
  if (signed.length > 0) return [...signed];
  const thinking = readThought(message);
  return thinking === "" ? [] : [{ type: "thinking", thinking, signature: "" }];
}

function textBlocks(message: JsonObject | undefined): JsonObject[] {
  const citations = objects(message, "annotations").flatMap(toCitations);
  const texts = [formatMessage(message), anyText(message, "refusal")].filter((part) => part !== "");
  return texts.map((part, at) => ({
    type: "text",
    text: part,
    ...(at === 0 && citations.length > 0 && { citations }),
  }));
}

export function toCitations(annotation: JsonObject): JsonObject[] {
  const source = object(annotation, "url_citation");
  if (source === undefined) return [];
  const { url, title } = source;
  return [
    { type: "web_search_result_location", url: url ?? "", title: title ?? "", cited_text: "", encrypted_index: "" },
  ];
}

function toolUse(call: JsonObject, { names }: AskedMessage): JsonObject {
  const target = object(call, "function") ?? object(call, "custom");
  const id = text(call, "id");
  const name = anyText(target, "name");
  return {
    type: "tool_use",
    id: id === undefined || id === "" ? newCallId() : id,
    name: names.get(name) ?? name,
    input: parseArguments(readArguments(target)),
  };
}
