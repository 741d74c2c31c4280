import { compact, object, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { invalidRequest, unsupportedParameter } from "../../../lib/app-error.ts";
import { createBodyStream, jsonAnswer, readWhole } from "../../core/exchange.ts";
import type { Exchange, UpstreamAnswer, UpstreamCall } from "../../core/types.ts";
import { formParts } from "./form.ts";

const FORMATS: ReadonlySet<string> = new Set(["json", "text", "vtt", "verbose_json"]);

/**
 * Converts transcriptions. The vendor takes the plain audio as the body, the turbo model takes base64 in JSON; both
 * answer in the vendor's envelope.
 */
export const transcriptionExchange: Exchange = async (call, context) => {
  const parts = formParts(call.body ?? Buffer.alloc(0), call.headers["content-type"] ?? "");
  const audio = parts.find((part) => part.name === "file")?.data;
  if (!audio) throw invalidRequest("file", "file is required.");
  const format = parts.find((part) => part.name === "response_format")?.data.toString("utf8") ?? "json";
  if (!FORMATS.has(format)) throw unsupportedParameter("response_format");
  const first = await context.send(unwrapped(call, audio, context.upstreamModel));
  if (first.status !== 200) return first;
  const { answer, bytes } = await readWhole(first);
  const result = object(parseObject(bytes.toString("utf8")), "result");
  const said = text(result, "text");
  return said === undefined ? answer : written(format, said, result);
};

function written(format: string, said: string, result: JsonObject | undefined): UpstreamAnswer {
  if (format === "verbose_json") return jsonAnswer(verbose(said, result));
  const plain = format === "text" ? said : format === "vtt" ? text(result, "vtt") : undefined;
  if (plain === undefined) return jsonAnswer({ text: said });
  return {
    status: 200,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: createBodyStream(Buffer.from(plain)),
  };
}

function verbose(said: string, result: JsonObject | undefined): JsonObject {
  const info = object(result, "transcription_info");
  return compact({
    language: info?.["language"],
    duration: info?.["duration"],
    text: said,
    segments: result?.["segments"],
    words: result?.["words"],
  });
}

function unwrapped(call: UpstreamCall, audio: Buffer, model: string): UpstreamCall {
  if (!model.includes("turbo"))
    return { ...call, headers: { ...call.headers, "content-type": "application/octet-stream" }, body: audio };
  const body = Buffer.from(JSON.stringify({ audio: audio.toString("base64") }));
  return { ...call, headers: { ...call.headers, "content-type": "application/json" }, body };
}
