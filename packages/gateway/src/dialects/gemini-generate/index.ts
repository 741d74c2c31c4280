import { encodeBlock } from "../../lib/text/sse.ts";
import { readChoiceCount, exactJson, readModelName, readOutputCap, requiredList } from "../core/request-spec.ts";
import { plainDialect } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords } from "../core/prompt.ts";
import { object } from "../core/read.ts";
import type { RequestSpec, Body, Dialect, JsonObject, Operation } from "../core/types.ts";
import { largestAt } from "../core/requested-output.ts";
import { readError } from "../core/upstream-error.ts";
import { geminiUsage, readGeminiUsage } from "../core/usage.ts";
import { geminiAnswerIds } from "./answer-ids.ts";
import { bareModel, everySpelling, gNumber, gObject, gText, spelled } from "./fields.ts";
import { GeminiMeter } from "./meter.ts";
import { candidatesTexts, walkGemini } from "./prompt.ts";
import { isBlockedPiece, classifyPiece, showsPiece } from "./shape.ts";
import { assemblePieces, bareEvents, createArrayWriter, createEventWriter, NO_MORE } from "./stream.ts";

const capIn = largestAt(...everySpelling("generationConfig", "maxOutputTokens"));
const candidatesIn = largestAt(...everySpelling("generationConfig", "candidateCount"));
/** The path decides whether the answer is streamed, so the relay sets `stream`. */
export const geminiGenerate: Dialect = {
  ...plainDialect,
  id: "gemini-generate",
  errors: "gemini",
  inspect(body, operation, pathModel) {
    const json = body.json();
    requiredList(json, "contents");
    const config = gObject(json, "generationConfig");
    const cap = config && readOutputCap({ maxOutputTokens: gNumber(config, "maxOutputTokens") }, ["maxOutputTokens"]);
    const choices = readChoiceCount({ candidateCount: gNumber(config, "candidateCount") }, "candidateCount");
    const level = gText(gObject(config, "thinkingConfig"), "thinkingLevel");
    return {
      ...geminiAsk(json, operation, pathModel),
      outputCap: cap === undefined ? undefined : cap * choices,
      ...(choices > 1 && { answers: choices }),
      ...(level !== undefined && { reasoningEffort: level.toLowerCase() }),
    };
  },
  retarget: (body, _spec, upstreamModel) => withModel(body, upstreamModel),
  capEdits: (body, tokens) => {
    const key = spelled(body, "generationConfig");
    const { max_output_tokens: _other, ...config } = object(body, key) ?? {};
    return [{ key, json: JSON.stringify({ ...config, maxOutputTokens: tokens }) }];
  },
  capName: () => "generationConfig.maxOutputTokens",
  requestedOutput: (body) => ({ cap: capIn(body), answers: candidatesIn(body) ?? 1 }),
  usage: (answer) => readGeminiUsage(object(answer, "usageMetadata")),
  withUsage: (answer, usage) => ({ ...answer, usageMetadata: geminiUsage(usage) }),
  errorIn: (answer) => readError(answer["error"]),
  isAnswer: (answer) => classifyPiece(answer) === "part",
  classifyEvent: classifyPiece,
  hasContent: showsPiece,
  isRefusal: isBlockedPiece,
  tidy: bareEvents,
  meter: () => new GeminiMeter(),
  answerIds: geminiAnswerIds,
  promptTexts,
  promptWords,
  answerTexts: candidatesTexts,
  eventTexts: candidatesTexts,
  toStream: (answer) => Buffer.from(encodeBlock(JSON.stringify(answer))),
  assembleAnswer: assemblePieces,
  usageEvent: (usage) =>
    Buffer.from(encodeBlock(JSON.stringify({ candidates: [NO_MORE], usageMetadata: geminiUsage(usage) }))),
  streamForm: (url) => (wantsEvents(url) ? createEventWriter() : createArrayWriter()),
};

/** Counts the tokens of a request: contents, or a whole generateContent request. */
export const geminiCountTokens: Dialect = {
  ...plainDialect,
  id: "gemini-count-tokens",
  errors: "gemini",
  inspect(body, operation, pathModel) {
    const json = body.json();
    requiredList(gObject(json, "generateContentRequest") ?? json, "contents");
    return { ...geminiAsk(json, operation, pathModel), dialect: "gemini-count-tokens" };
  },
  retarget(body, _spec, upstreamModel) {
    const request = gObject(exactJson(body), "generateContentRequest");
    if (request?.["model"] === undefined || request["model"] === `models/${upstreamModel}`) return body.bytes;
    const inner = { ...request, model: `models/${upstreamModel}` };
    return Buffer.from(
      JSON.stringify({ ...exactJson(body), generateContentRequest: inner, generate_content_request: undefined }),
    );
  },
  errorIn: (answer) => readError(answer["error"]),
  promptTexts,
  promptWords,
};

function geminiAsk(json: JsonObject, operation: Operation, pathModel: string | undefined): RequestSpec {
  return {
    operation,
    dialect: "gemini-generate",
    model: readModelName({}, pathModel === undefined ? undefined : bareModel(pathModel)),
    stream: false,
    wantsStreamUsage: true,
    outputCap: undefined,
    promptEstimate: estimateTokenBound((reader) => walkGemini(json, reader)),
    units: 1,
  };
}

function wantsEvents(url: string): boolean {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
  return (query.get("alt") ?? query.get("$alt")) === "sse";
}

/** Renames the model in a body that repeats it; the model of the path and that of the body must agree. */
function withModel(body: Body, upstreamModel: string): Buffer {
  const model = body.json()["model"];
  if (typeof model !== "string" || bareModel(model) === upstreamModel) return body.bytes;
  return Buffer.from(JSON.stringify({ ...exactJson(body), model: `models/${upstreamModel}` }));
}

function promptTexts(body: Body) {
  return collectTexts((reader) => walkGemini(body.json(), reader));
}

function promptWords(body: Body) {
  return collectWords((reader) => walkGemini(body.json(), reader));
}
