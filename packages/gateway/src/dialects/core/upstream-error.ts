import { parseEvents, splitBlocks } from "../../lib/text/sse.ts";
import { isObject, object, objects, text } from "./read.ts";
import type { JsonObject, JsonValue, StreamEvent, UpstreamErrorEvent } from "./types.ts";

/** Reads the value of an `error` member: an object, a text, or nothing. */
export function readError(error: JsonValue | undefined): UpstreamErrorEvent | undefined {
  if (typeof error === "string" && error !== "") return errorEvent({ message: error });
  return isObject(error) ? errorEvent(error) : undefined;
}

/** Returns the error if a streamed event is one, in any protocol. */
export function readEventError({ event, data, raw }: StreamEvent): UpstreamErrorEvent | undefined {
  if (data === undefined) return event === "error" && raw !== "" ? errorEvent({ message: raw }) : undefined;
  const found = readError(data["error"]) ?? readError(object(data, "response")?.["error"]);
  if (found !== undefined) return found;
  if (data["type"] === "response.failed") return readError("The response failed.");
  const isError = event === "error" || data["type"] === "error" || data["object"] === "error";
  return isError || isFault(data) ? errorEvent(data) : undefined;
}

/** True for a code and a sentence instead of choices: Spark ends a failed stream so, while its answers have code 0. */
function isFault(data: JsonObject): boolean {
  const { code } = data;
  const isFailed =
    (typeof code === "number" && code !== 0) || (typeof code === "string" && !/^(?:0|200|success|)$/i.test(code));
  return (
    isFailed &&
    objects(data, "choices").length === 0 &&
    data["usage"] === undefined &&
    data["type"] === undefined &&
    readSentence(data) !== undefined
  );
}

/** Returns the error of a choice that ended in one; the upstream reports no details about it. */
export function failedChoice(answer: JsonObject): UpstreamErrorEvent | undefined {
  const hasFailed = objects(answer, "choices").some((choice) => choice["finish_reason"] === "error");
  return hasFailed ? readError("The upstream ended the answer with an error.") : undefined;
}

/** Returns the first failure in these blocks, and the blocks before it; nothing after it is part of an answer. */
export function splitAtError(
  blocks: Buffer,
): { readonly error: UpstreamErrorEvent; readonly before: Buffer } | undefined {
  for (const block of splitBlocks(blocks)) {
    for (const event of parseEvents(block)) {
      const error = readEventError(event) ?? (event.data && failedChoice(event.data));
      if (error !== undefined) return { error, before: blocks.subarray(0, block.byteOffset - blocks.byteOffset) };
    }
  }
  return undefined;
}

/** Reads an error from a body that has only a sentence and possibly a code. */
export function readSentence(answer: JsonObject): UpstreamErrorEvent | undefined {
  const message = ["message", "msg", "detail"].map((key) => text(answer, key) ?? "").find((said) => said !== "");
  return message === undefined ? undefined : { ...errorEvent(answer), message };
}

function errorEvent(error: JsonObject): UpstreamErrorEvent {
  const code = error["code"];
  const kind = text(object(error, "metadata"), "error_type");
  return {
    message: text(error, "message") ?? text(error, "msg") ?? "",
    type: error["type"] === "error" ? undefined : (text(error, "type") ?? undefined),
    code: kind ?? (typeof code === "string" ? code : undefined),
    param: text(error, "param"),
    status: parseStatus(error["status"]) ?? parseStatus(error["http_code"]) ?? parseStatus(code),
  };
}

function parseStatus(value: JsonValue | undefined): number | undefined {
  const status = typeof value === "string" ? Number(value) : value;
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}
