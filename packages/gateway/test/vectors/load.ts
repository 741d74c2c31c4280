// Reads the vectors of both origins into one shape. The first set names the channel type inside `channel` and wraps
// streamed data; the second one carries a clock and raw event lines.
import { readdirSync, readFileSync } from "node:fs";
import { isObject, object, objects, text } from "../../src/dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../src/dialects/core/types.ts";

export const VECTORS = new URL("../../vectors/", import.meta.url);

export interface VectorRequest {
  readonly method: string;
  /** Complete, with query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue | undefined;
  /** Exact bytes where they are signed. */
  readonly raw: string | undefined;
}

export interface VectorStep {
  readonly request: VectorRequest;
  readonly response: JsonObject;
}

export interface VectorUpstreamError {
  readonly class: string;
  readonly retry: boolean | undefined;
  readonly disable: boolean;
  readonly retryAfterMs: number | undefined;
}

export interface Vector {
  readonly name: string;
  readonly kind: "relay" | "balance" | "models" | "task" | "sign" | "mapping" | "token";
  readonly type: number;
  readonly channel: JsonObject;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Random parts of made-up ids, in order. */
  readonly ids: readonly string[];
  readonly client: JsonObject | undefined;
  readonly steps: readonly VectorStep[];
  readonly answer: JsonObject | undefined;
  readonly usage: JsonObject | undefined;
  readonly verdict: VectorUpstreamError | undefined;
  readonly json: JsonObject;
}

/** Types that the family never numbered. */
const NAMED_TYPES: Readonly<Record<string, number>> = { groq: 1001, together: 1002, fireworks: 1003, github: 1004 };

const CLASSES: Readonly<Record<string, string>> = {
  rate_limited: "rate_limit",
  upstream_error: "server",
  model_unavailable: "not_found",
  invalid_request: "bad_request",
};

/** Every vector, by name. */
export function loadVectors(): Vector[] {
  const files = readdirSync(VECTORS).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => {
    const json = JSON.parse(readFileSync(new URL(file, VECTORS), "utf8")) as JsonObject;
    return readVector(file.slice(0, -".json".length), json);
  });
}

export function readVector(name: string, json: JsonObject): Vector {
  const clock = json["clock"] ?? object(json, "inject")?.["now"] ?? 1_790_000_000;
  const answer = object(json, "client_response");
  return {
    name,
    kind: readKind(json, answer),
    type: parseType(json["channel_type"]),
    channel: object(json, "channel") ?? {},
    now: Number(clock) * 1000,
    ids: (object(json, "inject")?.["ids"] ?? []) as string[],
    client: object(json, "client_request"),
    steps: readSteps(json),
    answer,
    usage: object(json, "usage"),
    verdict: readVerdict(json),
    json,
  };
}

function readKind(json: JsonObject, answer: JsonObject | undefined): Vector["kind"] {
  const kind = text(json, "kind");
  if (kind === "balance" || kind === "task" || kind === "sign" || kind === "mapping" || kind === "token") return kind;
  const path = text(object(json, "client_request"), "path") ?? "";
  if (!path.startsWith("(")) return "relay";
  return object(answer, "body")?.["models"] === undefined ? "balance" : "models";
}

function parseType(type: JsonValue | undefined): number {
  return typeof type === "string" ? (NAMED_TYPES[type] ?? -1) : Number(type);
}

function readSteps(json: JsonObject): VectorStep[] {
  const before = [...objects(json, "pre_requests"), ...objects(json, "prelude")].map((step) =>
    readStep(
      object(step, "request") ?? object(step, "upstream_request"),
      object(step, "response") ?? object(step, "upstream_response"),
    ),
  );
  const requests = toObjects(json["upstream_request"]);
  const responses = toObjects(json["upstream_response"]);
  return [...before, ...requests.map((request, index) => readStep(request, responses[index]))].filter(
    (step) => step.request.url !== "",
  );
}

function toObjects(value: JsonValue | undefined): JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}

function readStep(request: JsonObject | undefined, response: JsonObject | undefined): VectorStep {
  const host = text(request, "host");
  const url = text(request, "url") ?? (host === undefined ? "" : `https://${host}${text(request, "path") ?? ""}`);
  return {
    request: {
      method: text(request, "method") ?? "",
      url,
      headers: (object(request, "headers") ?? {}) as Record<string, string>,
      body: request?.["body"] ?? request?.["form"] ?? undefined,
      raw: text(request, "body_raw"),
    },
    response: response ?? {},
  };
}

function readVerdict(json: JsonObject): VectorUpstreamError | undefined {
  const classify = object(json, "classify");
  if (classify !== undefined) {
    return {
      class: text(classify, "class") ?? "",
      retry: classify["retry_other_channel"] === true,
      disable: classify["disable_channel"] === true,
      retryAfterMs: classify["retry_after_ms"] as number | undefined,
    };
  }
  const name = text(json, "error_class");
  if (name === undefined) return undefined;
  const action = text(json, "channel_action");
  return {
    class: CLASSES[name] ?? name,
    retry: action === "disable" ? undefined : action === "retry",
    disable: action === "disable",
    retryAfterMs: undefined,
  };
}
