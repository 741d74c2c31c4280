import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { parseEvents } from "../../../lib/text/sse.ts";

/** The body of an error in a common form. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string | undefined;
  readonly code: string | undefined;
  /** The status word of Google and gRPC (`RESOURCE_EXHAUSTED`). */
  readonly statusWord: string | undefined;
  readonly param: string | undefined;
  /** A number that was given as code or status. */
  readonly number: number | undefined;
  /** True if type and code are words of the OpenAI protocol and may be passed on. */
  readonly isOpenAiShaped: boolean;
  /** The object that held the message. */
  readonly source: JsonObject;
}

const MAX_MESSAGE = 4096;
const EVENT = /^(?:data|event|id|retry|:)[^\n]*(?:\n|$)/;
/** Request ids that gateways on the way add to messages; the client gets only this gateway's own id. */
const REQUEST_IDS = /(?:\s*\((?:request id|request_id|trace id|traceid): ?[\w.:-]{1,80}\))+\s*$/i;
const IDENTIFIER = /^[\w.:/-]{1,80}$/;

/** Returns an object; undefined for lists, null and anything else. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Returns a list; an empty list for anything else. */
export function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a non-empty text; undefined for anything else. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns a finite number, also from a text that is a plain decimal. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  return typeof value === "string" && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}

/** Returns a code that vendors write as text or as a number; "" for anything else. */
export function codeText(value: JsonValue | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Parses the JSON of a body, also if a gateway framed an error as a stream event. */
export function parseJson(body: Buffer): JsonValue | undefined {
  const text = body.toString("utf8").trim();
  if (text === "") return undefined;
  if (EVENT.test(text)) return parseEvents(Buffer.from(`${text}\n\n`)).find(({ data }) => data !== undefined)?.data;
  return tryParseJson(text);
}

function tryParseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Reads all error shapes in use; undefined if the value holds no error text. */
export function readErrorBody(value: JsonValue | undefined): ErrorBody | undefined {
  const root = asObject(Array.isArray(value) ? value[0] : value);
  if (!root) return undefined;
  const holder = errorHolder(root);
  const found = readErrorMessage(holder);
  if (!found) return undefined;
  const isNamed = holder !== root || root["object"] === "error";
  const words = {
    type: isNamed ? identifier(holder["type"]) : undefined,
    code: identifier(holder["code"]),
    statusWord: identifier(holder["status"]),
  };
  return {
    message: cleanMessage(found.message),
    ...words,
    param: found.param ?? asText(holder["param"]),
    number: asNumber(holder["code"]) ?? asNumber(holder["status"]),
    isOpenAiShaped: isNamed && root["type"] !== "error" && isOpenAiWording(words),
    source: holder,
  };
}

/** True for words of the OpenAI protocol: Google's envelope has a status word, and a number is not an OpenAI code. */
function isOpenAiWording({ type, code, statusWord }: Pick<ErrorBody, "type" | "code" | "statusWord">): boolean {
  return statusWord === undefined && (type ?? code) !== undefined;
}

/** Removes control characters and cuts the text to at most 4 KiB. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, "").slice(0, MAX_MESSAGE);
}

/** Returns a printable message without the text after a refused key, which is only about that key. */
export function cleanMessage(text: string): string {
  return printable(text.trim().replace(REQUEST_IDS, "")).replace(/^(Incorrect API key provided)\b[^]*$/, "$1.");
}

function errorHolder(root: JsonObject): JsonObject {
  return relayedError(root) ?? namedHolder(root);
}

/** Returns the error of the vendor behind a router: `metadata.raw` of OpenRouter, as JSON or as plain words. */
function relayedError(root: JsonObject): JsonObject | undefined {
  const error = asObject(root["error"]);
  const raw = asObject(error?.["metadata"])?.["raw"];
  if (!error || raw === undefined) return undefined;
  const said = typeof raw === "string" ? (tryParseJson(raw) ?? raw) : raw;
  const words = typeof said === "string" ? { message: said } : readErrorWords(said);
  return words && { ...error, ...words };
}

function readErrorWords(said: JsonValue): JsonObject | undefined {
  const inner = asObject(Array.isArray(said) ? said[0] : said);
  const holder = inner && namedHolder(inner);
  const message = holder && readErrorMessage(holder)?.message;
  if (message === undefined) return undefined;
  const { type, code } = holder ?? {};
  return { ...(type !== undefined && { type }), ...(code !== undefined && { code }), message };
}

function namedHolder(root: JsonObject): JsonObject {
  const response = asObject(root["response"]);
  const upperResponse = asObject(root["Response"]);
  return (
    asObject(root["error"]) ??
    asObject(asList(root["errors"])[0]) ??
    asObject(response?.["error"]) ??
    asObject(upperResponse?.["Error"]) ??
    asObject(root["header"]) ??
    asObject(root["fault"]) ??
    asObject(root["base_resp"]) ??
    asObject(asObject(root["detail"])?.["error"]) ??
    root
  );
}

const MESSAGE_MEMBERS = [
  "message",
  "Message",
  "error",
  "faultstring",
  "detail",
  "msg",
  "err",
  "error_msg",
  "error_description",
  "status_msg",
  "statusText",
] as const;

function readErrorMessage(holder: JsonObject): { message: string; param?: string } | undefined {
  const nested = asObject(holder["message"]);
  if (nested) return validationText(nested["detail"]) ?? readErrorMessage(nested);
  for (const member of MESSAGE_MEMBERS) {
    const text = asText(holder[member]);
    if (text !== undefined) return { message: text };
    if (member === "detail") {
      const listed = validationText(holder["detail"]);
      if (listed) return listed;
    }
  }
  const first = asText(asList(holder["errors"])[0]);
  if (first !== undefined) return { message: first };
  const detail = asObject(holder["detail"]);
  return detail && readErrorMessage(detail);
}

/** Converts FastAPI's `[{loc: ["body", "foo"], msg}]` to the message "body.foo: msg" and the parameter "foo". */
function validationText(value: JsonValue | undefined): { message: string; param?: string } | undefined {
  const entries = asList(value)
    .map(asObject)
    .filter((entry) => entry !== undefined);
  if (entries.length === 0) return undefined;
  const lines = entries.map((entry) => {
    const place = asList(entry["loc"]).map(codeText).join(".");
    const text = asText(entry["msg"]) ?? asText(entry["message"]) ?? "";
    return place === "" ? text : `${place}: ${text}`;
  });
  const last = asList(entries[0]?.["loc"]).at(-1);
  return { message: lines.join("; "), ...(typeof last === "string" ? { param: last } : {}) };
}

function identifier(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && IDENTIFIER.test(value) && !/^\d+$/.test(value) ? value : undefined;
}
