import { invalidRequest } from "../../lib/app-error.ts";
import {
  readChoiceCount,
  exactJson,
  renameEdits,
  readModelName,
  optionalFlag,
  readOutputCap,
  requiredList,
  withMembers,
} from "../core/request-spec.ts";
import { withCallIdsFor } from "../core/chat-calls.ts";
import { estimateTokenBound, collectTexts, collectWords } from "../core/prompt.ts";
import { flag, isObject, isSet, object, text } from "../core/read.ts";
import type { RequestSpec, Body, Dialect, JsonObject, RetargetOptions } from "../core/types.ts";
import { largestAt } from "../core/requested-output.ts";
import { failedChoice, readError } from "../core/upstream-error.ts";
import { chatUsage, readChatUsage } from "../core/usage.ts";
import { chatAnswerIds } from "./answer-ids.ts";
import { ChatMeter, sentenceIn } from "./meter.ts";
import { choicesTexts, isUsageChunk, walkChat } from "./prompt.ts";
import { isChatAnswer, isFilteredChoice, classifyChunk, showsChoice } from "./shape.ts";
import { assembleChunks, encodeChunks, DONE, usageChunk } from "./stream.ts";

/** Members that limit the output tokens. */
export const COMPLETION_CAPS = ["max_completion_tokens", "max_tokens"] as const;
export const completionCap = largestAt(...COMPLETION_CAPS);
const choicesIn = largestAt("n");
export const openaiChat: Dialect = {
  id: "openai-chat",
  answerIds: chatAnswerIds,
  errors: "openai",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = readModelName(json, pathModel);
    checkMessages(json);
    const effort = text(json, "reasoning_effort") ?? text(object(json, "reasoning"), "effort");
    return completionAsk(json, {
      operation,
      dialect: "openai-chat",
      model,
      promptEstimate: estimateTokenBound((reader) => walkChat(json, reader)),
      ...(effort !== undefined && { reasoningEffort: effort }),
    });
  },
  retarget: retargetCompletion,
  capEdits: capCompletion,
  capName: (body) => capKeys(body)[0] ?? "max_tokens",
  requestedOutput: (body) => ({ cap: completionCap(body), answers: choicesIn(body) ?? 1 }),
  usage: readCompletionUsage,
  withUsage: (answer, usage) => ({ ...answer, usage: chatUsage(usage) }),
  errorIn: errorInCompletion,
  isAnswer: isChatAnswer,
  classifyEvent: classifyChunk,
  hasContent: showsChoice,
  isRefusal: isFilteredChoice,
  meter: () => new ChatMeter(),
  promptTexts: (body) => collectTexts((reader) => walkChat(body.json(), reader)),
  promptWords: (body) => collectWords((reader) => walkChat(body.json(), reader)),
  answerTexts: choicesTexts,
  eventTexts: choicesTexts,
  isUsageOnly: isUsageChunk,
  toStream: encodeChunks,
  assembleAnswer: assembleChunks,
  usageEvent: (usage, last) => usageChunk(usage, last, "chat.completion.chunk"),
  terminator: DONE,
};

/** Reads the request members that chat and text completions share. */
export function completionAsk(
  json: JsonObject,
  own: Omit<RequestSpec, "stream" | "wantsStreamUsage" | "outputCap" | "units">,
): RequestSpec {
  const cap = readOutputCap(json, COMPLETION_CAPS);
  const choices = readChoiceCount(json);
  return {
    stream: optionalFlag(json, "stream"),
    wantsStreamUsage: flag(object(json, "stream_options"), "include_usage") === true,
    outputCap: cap === undefined ? undefined : cap * choices,
    units: 1,
    ...(choices > 1 && { answers: choices }),
    ...own,
  };
}

/** Renames the model, switches usage reporting on, and restores the ids of calls; everything else stays unchanged. */
export function retargetCompletion(
  body: Body,
  spec: RequestSpec,
  upstreamModel: string,
  options: RetargetOptions,
): Buffer {
  const edits = renameEdits(body, upstreamModel);
  const streamOptions = object(body.json(), "stream_options");
  if (spec.stream && options.askUsage && flag(streamOptions, "include_usage") !== true) {
    edits.push({ key: "stream_options", json: JSON.stringify({ ...streamOptions, include_usage: true }) });
  }
  if (withCallIdsFor(upstreamModel, body.json()) !== body.json())
    edits.push({ key: "messages", json: JSON.stringify(withCallIdsFor(upstreamModel, exactJson(body))["messages"]) });
  return withMembers(body, edits);
}

/** Sets the limit under the name that every server knows; vendors that require the other name rename it. */
export function capCompletion(body: JsonObject, tokens: number) {
  return capKeys(body).map((key) => ({ key, json: String(tokens) }));
}

function capKeys(body: JsonObject): readonly string[] {
  const named = COMPLETION_CAPS.filter((key) => isSet(body[key]));
  return named.length === 0 ? ["max_tokens"] : named;
}

/** Reads usage next to the choices, inside the first choice, or under a vendor's own name. */
export function readCompletionUsage(answer: JsonObject) {
  const choice = Array.isArray(answer["choices"]) ? answer["choices"][0] : undefined;
  return (
    readChatUsage(object(answer, "usage")) ??
    readChatUsage(isObject(choice) ? object(choice, "usage") : undefined) ??
    readChatUsage(object(object(answer, "x_groq"), "usage"))
  );
}

/**
 * Returns the error of an answer of status 200 that holds an error and no choice, is an error itself, ended in one, or
 * is a sentence instead of choices.
 */
export function errorInCompletion(answer: JsonObject) {
  const choices = answer["choices"];
  if (Array.isArray(choices) && choices.length > 0) return failedChoice(answer);
  const error = readError(answer["error"]) ?? (answer["object"] === "error" ? readError(answer) : undefined);
  return error ?? sentenceIn(answer);
}

function checkMessages(json: JsonObject): void {
  requiredList(json, "messages").forEach((message, index) => {
    const field = `messages[${index}]`;
    if (!isObject(message)) throw invalidRequest(field, `${field} must be an object.`);
    const role = message["role"];
    if (typeof role !== "string" || role === "") throw invalidRequest(`${field}.role`, `${field}.role is required.`);
    const content = message["content"];
    if (typeof content === "number" || typeof content === "boolean") {
      throw invalidRequest(`${field}.content`, `${field}.content must be a string or an array of parts.`);
    }
  });
}
