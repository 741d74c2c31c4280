import { object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";

/** How the upstream writes the results of a batch. */
export type ResultFormat = "openai" | "anthropic" | "gemini";

/** `gemini-inline`: the operation with its `inlinedResponses`; all others are lines. */
export type ReadFormat = ResultFormat | "gemini-inline";

/** What became of one item. */
export interface Outcome {
  /** Undefined where the protocol lets items go without one. */
  readonly id: string | undefined;
  readonly result: "succeeded" | "failed" | "expired" | "cancelled";
  /** The answer of an item that succeeded. */
  readonly answer?: JsonObject;
}

/** Returns what a piece of results says; undefined if it cannot be read. */
export function readOutcome(piece: Buffer, format: ResultFormat): Outcome | undefined {
  const line = parseObject(piece.toString("utf8"));
  return line && READERS[format](line);
}

const READERS: Readonly<Record<ResultFormat, (line: JsonObject) => Outcome | undefined>> = {
  openai: readOpenAiLine,
  anthropic: readAnthropicLine,
  gemini: readGeminiItem,
};

const UNFINISHED: Readonly<Record<string, Outcome["result"]>> = {
  batch_expired: "expired",
  batch_cancelled: "cancelled",
  batch_canceled: "cancelled",
};

/** A refused item has its status in `response`; `error` is for items without an answer. */
function readOpenAiLine(line: JsonObject): Outcome | undefined {
  const id = text(line, "custom_id");
  if (id === undefined) return undefined;
  const response = object(line, "response");
  if (!response) return { id, result: UNFINISHED[text(object(line, "error"), "code") ?? ""] ?? "failed" };
  const status = response["status_code"];
  if (typeof status !== "number") return undefined;
  if (status < 200 || status > 299) return { id, result: "failed" };
  const answer = response["body"];
  return isObject(answer) ? { id, result: "succeeded", answer } : undefined;
}

function readAnthropicLine(line: JsonObject): Outcome | undefined {
  const id = text(line, "custom_id");
  const result = object(line, "result");
  if (id === undefined || !result) return undefined;
  switch (result["type"]) {
    case "succeeded": {
      const answer = object(result, "message");
      return answer && { id, result: "succeeded", answer };
    }
    case "errored":
      return { id, result: "failed" };
    case "canceled":
      return { id, result: "cancelled" };
    case "expired":
      return { id, result: "expired" };
    default:
      return undefined;
  }
}

/** A line of a file has its key at the top, an inlined response in its metadata, if the client gave one. */
function readGeminiItem(line: JsonObject): Outcome | undefined {
  const id = text(line, "key") ?? text(object(line, "metadata"), "key");
  const answer = object(line, "response");
  if (answer) return { id, result: "succeeded", answer: withTokenCount(answer) };
  return isObject(line["error"]) ? { id, result: "failed" } : undefined;
}

/** Embeddings of batches report their tokens in a member of their own. */
function withTokenCount(answer: JsonObject): JsonObject {
  const promptTokenCount = Number(answer["tokenCount"]);
  const isCounted = Number.isSafeInteger(promptTokenCount) && promptTokenCount > 0 && !answer["usageMetadata"];
  return isCounted ? { ...answer, usageMetadata: { promptTokenCount } } : answer;
}
