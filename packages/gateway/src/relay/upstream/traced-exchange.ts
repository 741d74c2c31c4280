// What the span of an upstream call shows of its request and its answer. Only a traced call has such an object.
import { modelInEvent } from "../../dialects/core/answered-model.ts";
import { count, list, number, object, objects, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { parseEvents } from "../../lib/text/sse.ts";
import type { ExchangeFacts, RequestParameters } from "../../observability/tracing/call-span.ts";

/** Longest id, model or reason that a span shows: these are words of an upstream. */
const MAX_CHARACTERS = 256;
/** Most finish reasons that a span shows, one for each answer. */
const MAX_REASONS = 16;
/** Events of a stream without one of these say nothing about its end. */
const NAMES_END = /(?:finish_?reason|stop_?reason)"\s*:\s*"|"response\.(?:completed|incomplete|failed)"/i;

/** Reads one request as it is sent, and its answer while it passes, in any protocol. */
export class TracedExchange implements ExchangeFacts {
  readonly parameters: RequestParameters;
  responseId: string | undefined;
  responseModel: string | undefined;
  /** By the index of the answer. */
  readonly #reasons = new Map<number, string>();

  constructor(sent: JsonObject) {
    this.parameters = readParameters(sent);
  }

  get finishReasons(): readonly string[] {
    return [...this.#reasons].toSorted(([a], [b]) => a - b).map(([, reason]) => reason);
  }

  /** Reads whole events of the upstream. */
  readEvents(blocks: Buffer): void {
    const isIdentified = this.responseId !== undefined && this.responseModel !== undefined;
    if (isIdentified && !NAMES_END.test(blocks.toString("latin1"))) return;
    for (const { data } of parseEvents(blocks)) if (data) this.readAnswer(data);
  }

  /** Reads a whole answer, or one event. */
  readAnswer(answer: JsonObject): void {
    const wrapped = object(answer, "message") ?? object(answer, "response");
    this.responseId ??= short(text(answer, "id") ?? text(answer, "responseId") ?? text(wrapped, "id"));
    this.responseModel ??= short(modelInEvent(answer));
    this.#readReasons(answer);
    this.#noteReason(0, readSingleReason(answer) ?? readSingleReason(object(answer, "delta") ?? {}));
    this.#noteReason(0, readStatus(wrapped ?? answer));
  }

  #readReasons(answer: JsonObject): void {
    const choices = [...objects(answer, "choices"), ...objects(answer, "candidates")];
    for (const [place, choice] of choices.entries())
      this.#noteReason(count(choice, "index") ?? place, text(choice, "finish_reason") ?? text(choice, "finishReason"));
  }

  #noteReason(index: number, reason: string | undefined): void {
    if (reason === undefined || reason === "" || index >= MAX_REASONS) return;
    this.#reasons.set(index, reason.slice(0, MAX_CHARACTERS));
  }
}

/** Returns the reason of a protocol with one answer. */
function readSingleReason(answer: JsonObject): string | undefined {
  return text(answer, "stop_reason") ?? text(answer, "stopReason") ?? text(answer, "finish_reason");
}

/** Returns why a stored response ended: its status, or what made it incomplete. */
function readStatus(response: JsonObject): string | undefined {
  const status = text(response, "status");
  if (text(response, "object") !== "response" || status === "in_progress" || status === "queued") return undefined;
  return text(object(response, "incomplete_details"), "reason") ?? status;
}

/** Objects in which protocols have parameters that others have in the request itself. */
const NESTED = ["generationConfig", "inferenceConfig"];

/** Returns the parameters of a request; texts of a client, such as stop sequences, are left out. */
function readParameters(sent: JsonObject): RequestParameters {
  const places = [sent, ...NESTED.map((name) => object(sent, name)).filter((place) => place !== undefined)];
  const read = (...names: readonly string[]) => findFirst(places, names, number);
  return {
    temperature: read("temperature"),
    topP: read("top_p", "topP"),
    topK: read("top_k", "topK"),
    maxTokens: read("max_completion_tokens", "max_output_tokens", "max_tokens", "maxOutputTokens", "maxTokens"),
    frequencyPenalty: read("frequency_penalty", "frequencyPenalty"),
    presencePenalty: read("presence_penalty", "presencePenalty"),
    seed: read("seed"),
    choices: read("n", "candidateCount"),
    encodingFormats: readFormats(sent),
    reasoningLevel: short(readEffort(sent)),
    previousResponseId: short(text(sent, "previous_response_id")),
  };
}

function findFirst<T>(
  places: readonly JsonObject[],
  names: readonly string[],
  read: (from: JsonObject, name: string) => T | undefined,
): T | undefined {
  for (const place of places)
    for (const name of names) {
      const value = read(place, name);
      if (value !== undefined) return value;
    }
  return undefined;
}

function readEffort(sent: JsonObject): string | undefined {
  const thinking = object(object(sent, "generationConfig"), "thinkingConfig");
  const nested = text(object(sent, "reasoning"), "effort") ?? text(object(sent, "output_config"), "effort");
  return text(sent, "reasoning_effort") ?? nested ?? text(thinking, "thinkingLevel");
}

function readFormats(sent: JsonObject): readonly string[] | undefined {
  const one = text(sent, "encoding_format");
  const several = list(sent, "embedding_types").filter((format) => typeof format === "string");
  const formats = one === undefined ? several : [one];
  return formats.length === 0
    ? undefined
    : formats.slice(0, MAX_REASONS).map((format) => format.slice(0, MAX_CHARACTERS));
}

function short(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value.slice(0, MAX_CHARACTERS);
}
