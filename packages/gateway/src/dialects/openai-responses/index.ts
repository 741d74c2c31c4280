import { invalidRequest } from "../../lib/app-error.ts";
import { encodeBlock } from "../../lib/text/sse.ts";
import {
  exactJson,
  modelEdits,
  readModelName,
  optionalFlag,
  readOutputCap,
  withMembers,
} from "../core/request-spec.ts";
import { withCallIdFor } from "../core/call-ids.ts";
import { eachObject } from "../core/json-edit.ts";
import { plainDialect, TypedMeter } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords } from "../core/prompt.ts";
import { isSet, object, text } from "../core/read.ts";
import type { RequestSpec, Dialect, JsonObject, Operation } from "../core/types.ts";
import { capAt } from "../core/requested-output.ts";
import { readEventError, readError } from "../core/upstream-error.ts";
import { readResponsesUsage, responsesUsage } from "../core/usage.ts";
import { responseAnswerIds } from "./answer-ids.ts";
import { trackResponses } from "./position.ts";
import { eventTexts, outputTexts, walkResponses } from "./prompt.ts";
import { isRefusedResponse, isResponse, classifyResponseEvent, showsOutput } from "./shape.ts";
import { toResponseEvents, findFinalResponse } from "./writer.ts";

const ENDS = ["response.completed", "response.incomplete", "response.failed"];

export const openaiResponses: Dialect = {
  ...plainDialect,
  id: "openai-responses",
  answerIds: responseAnswerIds,
  errors: "openai-responses",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const spec = responsesAsk(json, operation, pathModel);
    checkInput(json);
    return { ...spec, stream: optionalFlag(json, "stream"), outputCap: readOutputCap(json, ["max_output_tokens"]) };
  },
  retarget(body, _spec, upstreamModel) {
    const edits = modelEdits(body, upstreamModel);
    const mapCallIds = (json: JsonObject) =>
      eachObject(json, "input", (item) => withCallIdFor(upstreamModel, item, "call_id"));
    if (mapCallIds(body.json()) !== body.json())
      edits.push({ key: "input", json: JSON.stringify(mapCallIds(exactJson(body))["input"]) });
    return withMembers(body, edits);
  },
  capEdits: (_body, tokens) => [{ key: "max_output_tokens", json: String(tokens) }],
  capName: () => "max_output_tokens",
  requestedOutput: capAt("max_output_tokens"),
  usage: (answer) => readResponsesUsage(object(answer, "usage")),
  withUsage: (answer, usage) => ({ ...answer, usage: responsesUsage(usage) }),
  errorIn: (answer) =>
    readEventError({ event: undefined, data: answer, raw: "" }) ??
    (answer["status"] === "failed" ? readError("The response failed.") : undefined),
  isAnswer: isResponse,
  classifyEvent: classifyResponseEvent,
  hasContent: showsOutput,
  isRefusal: isRefusedResponse,
  meter: () => new TypedMeter({ ends: ENDS, readUsage: readResponsesUsage }),
  promptTexts: (body) => collectTexts((reader) => walkResponses(body.json(), reader)),
  promptWords: (body) => collectWords((reader) => walkResponses(body.json(), reader)),
  answerTexts: outputTexts,
  eventTexts,
  toStream: (answer) =>
    Buffer.from(
      toResponseEvents(answer)
        .map(({ event, data }) => encodeBlock(JSON.stringify(data), event))
        .join(""),
    ),
  assembleAnswer: findFinalResponse,
  position: trackResponses,
};

/** Counts the tokens of a request: the same body, but only the model is required. */
export const openaiInputTokens: Dialect = {
  ...openaiResponses,
  id: "openai-input-tokens",
  isAnswer: () => true,
  inspect: (body, operation, pathModel) => ({
    ...responsesAsk(body.json(), operation, pathModel),
    dialect: "openai-input-tokens",
  }),
};

/**
 * Compacts a conversation: the answer has fewer items than the request, including one that only the vendor can read.
 */
export const openaiCompaction: Dialect = {
  ...openaiResponses,
  id: "openai-compaction",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const spec = responsesAsk(json, operation, pathModel);
    checkInput(json);
    return { ...spec, dialect: "openai-compaction" };
  },
};

function responsesAsk(json: JsonObject, operation: Operation, pathModel: string | undefined): RequestSpec {
  const effort = text(object(json, "reasoning"), "effort");
  return {
    operation,
    dialect: "openai-responses",
    model: readModelName(json, pathModel),
    stream: false,
    wantsStreamUsage: true,
    outputCap: undefined,
    promptEstimate: estimateTokenBound((reader) => walkResponses(json, reader)),
    units: 1,
    ...(effort !== undefined && { reasoningEffort: effort }),
  };
}

function checkInput(json: JsonObject): void {
  const input = json["input"];
  const mayBeMissing = ["previous_response_id", "conversation", "prompt"].some((key) => isSet(json[key]));
  if (!isSet(input)) {
    if (mayBeMissing) return;
    throw invalidRequest("input", "input is required.");
  }
  if (typeof input !== "string" && !Array.isArray(input)) {
    throw invalidRequest("input", "input must be a string or an array of items.");
  }
  if (input.length === 0 && !mayBeMissing) throw invalidRequest("input", "input must not be empty.");
}
