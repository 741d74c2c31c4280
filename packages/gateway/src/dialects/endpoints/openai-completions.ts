import { invalidRequest } from "../../lib/app-error.ts";
import { encodeBlock } from "../../lib/text/sse.ts";
import { readChoiceCount, readModelName, readOutputCap } from "../core/request-spec.ts";
import {
  COMPLETION_CAPS,
  capCompletion,
  completionAsk,
  completionCap,
  errorInCompletion,
  retargetCompletion,
  readCompletionUsage,
} from "../openai-chat/index.ts";
import { ChatMeter } from "../openai-chat/meter.ts";
import { choicesTexts, isUsageChunk } from "../openai-chat/prompt.ts";
import { isFilteredChoice, isTextAnswer, classifyChunk, showsChoice } from "../openai-chat/shape.ts";
import { DONE, usageChunk } from "../openai-chat/stream.ts";
import { estimateTokenBound, collectTexts, collectWords, type PromptReader } from "../core/prompt.ts";
import { largestAt } from "../core/requested-output.ts";
import { isObject, isSet, list, object, objects, text } from "../core/read.ts";
import type { Dialect, JsonObject, JsonValue } from "../core/types.ts";
import { chatUsage } from "../core/usage.ts";

export const openaiCompletions: Dialect = {
  id: "openai-completions",
  errors: "openai",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = readModelName(json, pathModel);
    checkPrompt(json["prompt"]);
    const spec = completionAsk(json, {
      operation,
      dialect: "openai-completions",
      model,
      promptEstimate: estimateTokenBound((reader) => walkPrompt(json, reader)),
    });
    readChoiceCount(json, "best_of");
    const answers = countAnswers(json);
    const cap = readOutputCap(json, COMPLETION_CAPS);
    return {
      ...spec,
      outputCap: cap === undefined ? undefined : cap * answers,
      ...(answers > 1 && { answers }),
    };
  },
  retarget: retargetCompletion,
  capEdits: capCompletion,
  requestedOutput: (body) => ({ cap: completionCap(body), answers: countAnswers(body) }),
  usage: readCompletionUsage,
  withUsage: (answer, usage) => ({ ...answer, usage: chatUsage(usage) }),
  errorIn: errorInCompletion,
  isAnswer: isTextAnswer,
  classifyEvent: classifyChunk,
  hasContent: showsChoice,
  isRefusal: isFilteredChoice,
  meter: () => new ChatMeter(),
  promptTexts: (body) => collectTexts((reader) => walkPrompt(body.json(), reader)),
  promptWords: (body) => collectWords((reader) => walkPrompt(body.json(), reader)),
  answerTexts: choicesTexts,
  eventTexts: choicesTexts,
  isUsageOnly: isUsageChunk,
  toStream(answer, spec) {
    const { choices: _choices, usage: _usage, ...envelope } = answer;
    const usage = object(answer, "usage");
    const events: JsonObject[] = objects(answer, "choices").map((choice) => ({
      ...envelope,
      choices: [{ ...choice }],
    }));
    if (spec.wantsStreamUsage && usage !== undefined) events.push({ ...envelope, choices: [], usage });
    return Buffer.from(events.map((event) => encodeBlock(JSON.stringify(event))).join(""));
  },
  assembleAnswer,
  usageEvent: (usage, last) => usageChunk(usage, last, "text_completion"),
  terminator: DONE,
};

/** Assembles the whole answer from text chunks. */
function assembleAnswer(events: readonly JsonObject[]): JsonObject | undefined {
  const chunks = events.filter((event) => Array.isArray(event["choices"]));
  if (chunks.length === 0) return undefined;
  const choices = new Map<JsonValue, JsonObject>();
  let envelope: JsonObject = {};
  let usage: JsonValue | undefined;
  for (const chunk of chunks) {
    envelope = { ...chunk, ...envelope };
    if (isSet(chunk["usage"])) usage = chunk["usage"];
    for (const choice of objects(chunk, "choices")) {
      const index = choice["index"] ?? 0;
      const known = choices.get(index) ?? { index, text: "", logprobs: null, finish_reason: null };
      const written = (text(known, "text") ?? "") + (text(choice, "text") ?? "");
      choices.set(index, {
        ...known,
        text: written,
        logprobs: joinedLogprobs(known["logprobs"], choice["logprobs"]),
        finish_reason: choice["finish_reason"] ?? known["finish_reason"] ?? null,
      });
    }
  }
  return {
    ...envelope,
    object: "text_completion",
    choices: [...choices.values()],
    ...(usage !== undefined && { usage }),
  };
}

/** Joins lists of tokens, probabilities and offsets; each piece continues where the last one ended. */
function joinedLogprobs(known: JsonValue | undefined, next: JsonValue | undefined): JsonValue {
  if (!isObject(known) || !isObject(next)) return next ?? known ?? null;
  const joined: JsonObject = { ...known };
  for (const key of Object.keys(next)) {
    if (Array.isArray(next[key])) joined[key] = [...list(known, key), ...list(next, key)];
  }
  return joined;
}

function checkPrompt(prompt: JsonValue | undefined): void {
  if (!isSet(prompt)) throw invalidRequest("prompt", "prompt is required.");
  if (typeof prompt !== "string" && !Array.isArray(prompt)) {
    throw invalidRequest("prompt", "prompt must be a string or an array of strings or tokens.");
  }
}

function promptCount(prompt: JsonValue | undefined): number {
  return Array.isArray(prompt) && typeof prompt[0] !== "number" ? Math.max(1, prompt.length) : 1;
}

/** Reads the answers per prompt: `best_of` answers are billed even if `n` shows fewer. */
const choicesIn = largestAt("n", "best_of");

function countAnswers(json: JsonObject): number {
  return (choicesIn(json) ?? 1) * promptCount(json["prompt"]);
}

function walkPrompt(json: JsonObject, reader: PromptReader): void {
  walkInput(json["prompt"], reader);
  walkInput(json["suffix"], reader);
}

/** Walks the input of completions and embeddings: a text, token numbers, or lists of either. */
export function walkInput(input: JsonValue | undefined, reader: PromptReader): void {
  if (typeof input === "string") reader.text(input);
  else if (typeof input === "number") reader.tokens(1);
  else if (Array.isArray(input)) {
    if (typeof input[0] === "number") reader.tokens(input.length);
    else for (const item of input) walkInput(item, reader);
  } else if (isSet(input)) reader.json(input);
}
