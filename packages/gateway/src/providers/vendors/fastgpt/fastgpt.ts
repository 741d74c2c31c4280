import { olderLimitName } from "../../core/request-transforms/output-limit.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { count, isObject, object, text } from "../../../dialects/core/read.ts";
import { asNumber, asText } from "../../core/errors/error-body.ts";
import { openaiCompatible } from "../../core/openai-compatible.ts";
import type { ResponseContext, ResponseTransform } from "../../core/types.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { vendorUpstreamError } from "../../core/errors/vendor-error.ts";
import { classifyStatus } from "../../core/errors/upstream-error.ts";

const TEXT_EVENTS: ReadonlySet<string | undefined> = new Set([undefined, "answer", "fastAnswer"]);

/** Passes only the workflow's named events that carry text; their head fields and usage are placeholders. */
const workflow: ResponseTransform = {
  name: "workflow events",
  answer: (body, context) => withoutDummyUsage(fillAnswerHead(body, context)),
  stream: (context) => (event) => {
    if (event.event === "error" && event.data) {
      const message = text(event.data, "message") ?? "The upstream failed.";
      return { event: undefined, data: { error: { message, type: "upstream_error" } }, raw: "" };
    }
    if (!TEXT_EVENTS.has(event.event)) return [];
    return event.data
      ? chunk(event, fillAnswerHead(withoutDummyUsage(event.data), context))
      : { ...event, event: undefined };
  },
};

function chunk(event: StreamEvent, data: JsonObject): StreamEvent {
  return data === event.data && event.event === undefined ? event : { event: undefined, data, raw: "" };
}

function fillAnswerHead(body: JsonObject, { spec, now, requestId }: ResponseContext): JsonObject {
  if (body["choices"] === undefined || (body["id"] && body["created"] && body["model"])) return body;
  return {
    ...body,
    id: text(body, "id") || `chatcmpl-${requestId}`,
    created: count(body, "created") || Math.floor(now / 1000),
    model: text(body, "model") || spec.model,
  };
}

/** Removes the usage 1/1/1, which means "not counted". */
function withoutDummyUsage(body: JsonObject): JsonObject {
  const total = count(object(body, "usage"), "total_tokens");
  if (total === undefined || total > 2) return body;
  const { usage: _dummy, ...rest } = body;
  return rest;
}

const REFUSED_KEY = 514;

/** Reads `{code, statusText, message}`, also with status 200. 514 is a refused key; other codes are HTTP statuses. */
function readFastGpt({ status, json }: FailedAnswer): UpstreamError | undefined {
  const code = isObject(json) && json["choices"] === undefined ? asNumber(json["code"]) : undefined;
  const isOther = status === 200 && code !== undefined && code >= 400 && code <= 599;
  if (!isObject(json) || (code !== REFUSED_KEY && !isOther)) return undefined;
  return vendorUpstreamError(code === REFUSED_KEY ? "bad_key" : classifyStatus(code), {
    type: "fastgpt_error",
    code: String(code),
    message: asText(json["message"]) ?? asText(json["statusText"]) ?? "",
    status,
  });
}

export const fastgpt = openaiCompatible({
  type: 22,
  id: "fastgpt",
  label: "Knowledge Base FastGPT",
  baseUrl: "https://fastgpt.run/api/openapi",
  requestTransforms: [olderLimitName],
  models: [],
  answersOtherNames: true,
  operations: ["chat"],
  streamUsage: false,
  responseTransforms: [workflow],
  classify: readFastGpt,
  keyHint: "API key, or APIKey-AppId",
});
