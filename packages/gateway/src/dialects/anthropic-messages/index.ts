import { invalidRequest } from "../../lib/app-error.ts";
import {
  readModelName,
  optionalFlag,
  readOutputCap,
  renameEdits,
  requiredList,
  withMembers,
} from "../core/request-spec.ts";
import { plainDialect } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords } from "../core/prompt.ts";
import { isObject, isSet, object, text } from "../core/read.ts";
import type { RequestSpec, Body, Dialect, JsonObject, Operation } from "../core/types.ts";
import { capAt } from "../core/requested-output.ts";
import { readError } from "../core/upstream-error.ts";
import { anthropicUsage, readAnthropicUsage } from "../core/usage.ts";
import { messageAnswerIds } from "./answer-ids.ts";
import { MessagesMeter } from "./meter.ts";
import { eventTexts, messageTexts, walkMessages } from "./prompt.ts";
import { isMessage, isRefusedMessage, classifyMessageEvent, showsBlock } from "./shape.ts";
import { encodeMessageEvents, assembleMessage } from "./stream.ts";

export const anthropicMessages: Dialect = {
  ...plainDialect,
  id: "anthropic-messages",
  answerIds: messageAnswerIds,
  errors: "anthropic",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const spec = messagesAsk(json, operation, pathModel);
    if (!isSet(json["max_tokens"])) throw invalidRequest("max_tokens", "max_tokens is required.");
    return { ...spec, outputCap: readOutputCap(json, ["max_tokens"]) };
  },
  retarget: (body, _spec, upstreamModel) => withMembers(body, renameEdits(body, upstreamModel)),
  capEdits: (_body, tokens) => [{ key: "max_tokens", json: String(tokens) }],
  requestedOutput: capAt("max_tokens"),
  usage: (answer) => readAnthropicUsage(object(answer, "usage")),
  withUsage: (answer, usage) => ({ ...answer, usage: anthropicUsage(usage) }),
  errorIn: (answer) => (answer["type"] === "error" ? readError(answer["error"]) : undefined),
  isAnswer: isMessage,
  classifyEvent: classifyMessageEvent,
  hasContent: showsBlock,
  isRefusal: isRefusedMessage,
  meter: () => new MessagesMeter(),
  promptTexts,
  promptWords,
  answerTexts: messageTexts,
  eventTexts,
  toStream: encodeMessageEvents,
  assembleAnswer: assembleMessage,
  closing: Buffer.from('event: message_stop\ndata: {"type":"message_stop"}\n\n'),
  heartbeat: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'),
};

/** Counts the tokens of a request: the same body without limits, answered with one number. */
export const anthropicCountTokens: Dialect = {
  ...plainDialect,
  id: "anthropic-count-tokens",
  errors: "anthropic",
  inspect: (body, operation, pathModel) => ({
    ...messagesAsk(body.json(), operation, pathModel),
    dialect: "anthropic-count-tokens",
    stream: false,
  }),
  errorIn: (answer) => (answer["type"] === "error" ? readError(answer["error"]) : undefined),
  promptTexts,
  promptWords,
};

function messagesAsk(json: JsonObject, operation: Operation, pathModel: string | undefined): RequestSpec {
  const model = readModelName(json, pathModel);
  checkMessages(json);
  const effort = text(object(json, "output_config"), "effort");
  return {
    operation,
    dialect: "anthropic-messages",
    model,
    stream: optionalFlag(json, "stream"),
    wantsStreamUsage: true,
    outputCap: undefined,
    promptEstimate: estimateTokenBound((reader) => walkMessages(json, reader)),
    units: 1,
    ...(effort !== undefined && { reasoningEffort: effort }),
  };
}

function promptTexts(body: Body) {
  return collectTexts((reader) => walkMessages(body.json(), reader));
}

function promptWords(body: Body) {
  return collectWords((reader) => walkMessages(body.json(), reader));
}

function checkMessages(json: JsonObject): void {
  requiredList(json, "messages").forEach((message, index) => {
    const field = `messages.${index}`;
    if (!isObject(message)) throw invalidRequest(field, `${field} must be an object.`);
    if (typeof message["role"] !== "string") throw invalidRequest(`${field}.role`, `${field}.role is required.`);
    const content = message["content"];
    if (typeof content !== "string" && !Array.isArray(content)) {
      throw invalidRequest(`${field}.content`, `${field}.content must be a string or an array of blocks.`);
    }
  });
}
