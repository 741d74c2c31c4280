import { anyText, compact, isObject, number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { readArguments, parseArguments } from "../parts/tools/arguments.ts";
import { BytePlaces } from "../parts/content/byte-offsets.ts";
import { formatImages, readThought, readWords } from "../parts/answer/finish-words.ts";
import { parseDataUrl } from "../parts/content/data-url.ts";
import { geminiFinish } from "../parts/answer/finish.ts";
import { geminiLogprobs } from "../parts/answer/logprobs.ts";
import { isCodeRun, partsOfCode } from "../parts/tools/code-runs.ts";
import { listQueries, listHostedRuns } from "../parts/tools/hosted-runs.ts";
import { buildUsageMetadata } from "./usage.ts";

const MARKDOWN_IMAGE = /^!\[image\]\((data:[^)]+)\)$/;

/** Converts a chat answer to a generateContent answer. */
export function fromChat(body: JsonObject, context: BridgeContext): JsonObject {
  return compact({
    candidates: objects(body, "choices").map(toCandidate),
    usageMetadata: buildUsageMetadata(object(body, "usage")),
    modelVersion: text(body, "model") ?? context.spec.model,
    responseId: text(body, "id") ?? context.requestId,
  });
}

function toCandidate(choice: JsonObject, at: number): JsonObject {
  const message = object(choice, "message") ?? {};
  const calls = objects(message, "tool_calls");
  const legacy = object(message, "function_call");
  const parts = [
    ...thoughtParts(message),
    ...codeParts(message),
    ...textParts(message),
    ...soundParts(message),
    ...(legacy === undefined ? calls : [...calls, { function: legacy }]).map(callPart),
  ];
  return compact({
    content: modelContent(parts),
    finishReason: geminiFinish(text(choice, "finish_reason"), anyText(message, "refusal") !== ""),
    index: number(choice, "index") ?? at,
    groundingMetadata: buildGrounding(
      objects(message, "annotations"),
      placesIn(readWords(message)),
      listHostedRuns(message),
    ),
    logprobsResult: geminiLogprobs(choice),
  });
}

/**
 * Builds the content. It always has a part, because Google's client forgets a turn if any event has none; the vendor
 * itself sends an empty text.
 */
export function modelContent(parts: readonly JsonObject[]): JsonObject {
  return { role: "model", parts: parts.length === 0 ? [{ text: "" }] : [...parts] };
}

/**
 * Returns thoughts. Signatures of another vendor's thinking are in the member for Gemini's own; clients send them back.
 */
function thoughtParts(message: JsonObject): JsonObject[] {
  const signed = objects(message, "fw_thinking").filter((block) => block["type"] === "thinking");
  if (signed.length > 0) {
    return signed.map((block) => ({
      text: anyText(block, "thinking"),
      thought: true,
      thoughtSignature: anyText(block, "signature"),
    }));
  }
  const thinking = readThought(message);
  return thinking === "" ? [] : [{ text: thinking, thought: true }];
}

/** Returns the parts for code that a vendor ran. */
export function codeParts(holder: JsonObject): JsonObject[] {
  return listHostedRuns(holder).filter(isCodeRun).flatMap(partsOfCode);
}

function textParts(message: JsonObject): JsonObject[] {
  return [readWords(message), ...formatImages(message), anyText(message, "refusal")]
    .filter((part) => part !== "")
    .map(parsePart);
}

/** The type of sound: requests of this protocol request this form, which is the vendor's own, from chat servers. */
const SOUND = "audio/L16;codec=pcm;rate=24000";

export function soundParts(message: JsonObject): JsonObject[] {
  const data = anyText(object(message, "audio"), "data");
  return data === "" ? [] : [{ inlineData: { mimeType: SOUND, data } }];
}

/** Converts text to a part; an image that a bridge wrote as markdown becomes an image again. */
export function parsePart(written: string): JsonObject {
  if (!written.startsWith("![")) return { text: written };
  const inline = parseDataUrl(MARKDOWN_IMAGE.exec(written)?.[1] ?? "");
  return inline === undefined ? { text: written } : { inlineData: { mimeType: inline.mediaType, data: inline.data } };
}

export function callPart(call: JsonObject): JsonObject {
  const target = object(call, "function") ?? object(call, "custom");
  const id = text(call, "id");
  return {
    functionCall: compact({
      id: id === "" ? undefined : id,
      name: anyText(target, "name"),
      args: parseArguments(readArguments(target)),
    }),
  };
}

function placesIn(written: string): BytePlaces {
  const places = new BytePlaces();
  places.add(written);
  return places;
}

/** Builds the sources of a text; the upstream counts characters, clients count bytes. */
export function buildGrounding(
  annotations: readonly JsonObject[],
  places: BytePlaces,
  runs: readonly JsonObject[] = [],
): JsonObject | undefined {
  const sources = annotations.map((annotation) => object(annotation, "url_citation")).filter(isObject);
  const queries = runs.flatMap(listQueries);
  const asked = queries.length === 0 ? {} : { webSearchQueries: queries };
  if (sources.length === 0)
    return queries.length === 0 ? undefined : { ...asked, groundingChunks: toGroundingChunks(runs) };
  const bytesTo = (offset: number | undefined) => (offset === undefined ? undefined : places.bytesTo(offset));
  return {
    ...asked,
    groundingChunks: sources.map((source) => ({ web: compact({ uri: source["url"], title: source["title"] }) })),
    groundingSupports: sources.map((source, at) => ({
      segment: compact({
        startIndex: bytesTo(number(source, "start_index")),
        endIndex: bytesTo(number(source, "end_index")),
      }),
      groundingChunkIndices: [at],
    })),
  };
}

/** Returns what a search found, if no text cites it. */
function toGroundingChunks(runs: readonly JsonObject[]): JsonObject[] {
  return runs
    .flatMap((run) => objects(run, "sources"))
    .map(({ url, title }) => ({ web: compact({ uri: url, title }) }));
}
