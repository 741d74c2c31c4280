import type { IncomingHttpHeaders } from "node:http";
import { isObject, text } from "../../src/dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../src/dialects/core/types.ts";
import { parseBlocks } from "../../src/lib/text/sse.ts";
import { mask } from "../../src/providers/core/mask.ts";
import { expectSame } from "./compare.ts";
import type { Vector } from "./load.ts";

export interface ClientAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Compares what the client got with what the vector expects. */
export function compareAnswer(actual: ClientAnswer, vector: Vector, requestId: string): void {
  const expected = vector.answer;
  if (expected === undefined) return;
  const hex = text(expected, "body_hex");
  const written = plain(actual.body.toString("utf8"), vector.ids, requestId);
  if (vector.steps.length > 0 && Number(expected["status"]) >= 400)
    return compareFailure(actual.status, written, vector);
  expectSame(actual.status, expected["status"], `status of ${written.slice(0, 300)}`);
  if (hex !== undefined) return expectSame(actual.body.toString("hex"), hex, "answer");
  if (Array.isArray(expected["sse"])) return compareEvents(written, expected["sse"]);
  expectSame(JSON.parse(written) as unknown, expected["body"], "answer");
}

/**
 * A failure of the upstream as the client sees it: hosts and keys are masked, codes are texts, nothing stands where a
 * vector shows an empty param, and an unreadable body is told in the gateway's own words.
 */
function compareFailure(status: number, written: string, vector: Vector): void {
  expectSame(status, resolveStatus(vector), `status of ${written.slice(0, 300)}`);
  const actual = readFailure(JSON.parse(written) as JsonValue, vector);
  const expected = readFailure(vector.answer?.["body"], vector);
  const isUnreadable = expected["code"] === "bad_response_status_code";
  expectSame(
    isUnreadable ? { code: actual["code"], param: actual["param"] } : actual,
    isUnreadable ? { code: expected["code"], param: expected["param"] } : expected,
    "error",
  );
}

/** 529 is a status of Anthropic's own; clients of other protocols see 503. */
function resolveStatus(vector: Vector): number {
  const status = Number(vector.answer?.["status"]);
  return status === 529 ? 503 : status;
}

function readFailure(body: JsonValue | undefined, vector: Vector): JsonObject {
  const error = isObject(body) ? body["error"] : undefined;
  if (!isObject(error)) return { body };
  const { message, type, code, param, innererror } = error;
  const secrets = { key: text(vector.channel, "key") ?? "", baseUrl: text(vector.channel, "base_url") ?? "" };
  return {
    message: typeof message === "string" ? mask(message, secrets) : message,
    type,
    code: typeof code === "number" ? String(code) : code,
    param: param === "" ? null : param,
    innererror,
  };
}

/** Request ids and random ids are this run's own. */
function plain(body: string, ids: readonly string[], requestId: string): string {
  const text = body.replaceAll(` (request id: ${requestId})`, "");
  if (ids.length === 0) return text;
  const seen = new Map<string, string>();
  return text.replaceAll(
    /\b(call_|chatcmpl-)([A-Za-z0-9]{24,26})(?![A-Za-z0-9])/g,
    (_whole, prefix: string, random: string) => {
      if (!seen.has(random)) seen.set(random, ids[seen.size] ?? random);
      return `${prefix}${seen.get(random)}`;
    },
  );
}

function compareEvents(written: string, expected: readonly JsonValue[]): void {
  const actual = parseBlocks(Buffer.from(written)).map(({ event, data = "" }) => ({ event, data: parseData(data) }));
  const wanted = withoutFalseEnd(expected.map(readEvent));
  const isNamed = wanted.some(({ event }) => event !== undefined);
  expectSame(isNamed ? actual : actual.map(({ data }) => ({ event: undefined, data })), wanted, "events");
}

function readEvent(event: JsonValue): { event: string | undefined; data: JsonValue | undefined } {
  if (isObject(event) && "data" in event && Object.keys(event).every((key) => key === "data" || key === "event")) {
    return { event: text(event, "event"), data: event["data"] };
  }
  return { event: undefined, data: event };
}

/** After an error event a stream ends without `[DONE]`, also where a vector still shows one. */
function withoutFalseEnd<E extends { readonly data: JsonValue | undefined }>(events: readonly E[]): readonly E[] {
  const beforeLast = events.at(-2)?.data;
  const isFalse = events.at(-1)?.data === "[DONE]" && isObject(beforeLast) && isObject(beforeLast["error"]);
  return isFalse ? events.slice(0, -1) : events;
}

function parseData(data: string): JsonValue {
  return data.startsWith("{") ? (JSON.parse(data) as JsonValue) : data;
}
