import { OPENAI_BATCHES } from "../../core/batches.ts";
import type { JsonObject, StreamEvent } from "../../../dialects/core/types.ts";
import { object, text } from "../../../dialects/core/read.ts";
import { OPENAI_FILES, openaiCompatible } from "../../core/openai-compatible.ts";
import { eachObject, omitMembers } from "../../../dialects/core/json-edit.ts";
import { eachMessage } from "../../core/response-transforms/each-choice.ts";
import { thinkingOff } from "../../core/request-transforms/thinking-off.ts";
import { reasoningName } from "../../core/response-transforms/reasoning-name.ts";
import type { ResponseTransform, RequestTransform } from "../../core/types.ts";

const EFFORT: Readonly<Record<string, string>> = { none: "low", minimal: "low", xhigh: "high", max: "high" };

const REFUSED = ["logprobs", "top_logprobs", "logit_bias", "n"];

const groqParams: RequestTransform = {
  name: "parameters that Groq refuses",
  apply(body, _spec, upstreamModel) {
    const preserved = eachObject(omitMembers(body, REFUSED), "messages", (message) => omitMembers(message, ["name"]));
    const effort = preserved["reasoning_effort"];
    if (typeof effort !== "string") return preserved;
    const known = effortFor(upstreamModel, effort);
    if (known === effort) return preserved;
    const { reasoning_effort: _other, ...rest } = preserved;
    return known === undefined ? rest : { ...rest, reasoning_effort: known };
  },
};

/** Returns the effort that the model takes: gpt-oss low to high, qwen3 none or default, other models none at all. */
function effortFor(model: string, effort: string): string | undefined {
  if (model.includes("gpt-oss")) return EFFORT[effort] ?? effort;
  if (model.includes("qwen3")) return effort === "none" ? "none" : "default";
  return undefined;
}

/** `x_groq` holds ids and a copy of the usage; the copy is used only if no usage chunk follows. */
const vendorMembers: ResponseTransform = {
  name: "x_groq and channel",
  marks: ['"x_groq"', '"channel"', '"usage"', "[DONE]"],
  answer: (body) => omitMembers(body, ["x_groq"]),
  stream() {
    let own: JsonObject | undefined;
    let hasUsage = false;
    return (event) => {
      const { data } = event;
      if (!data) return own && !hasUsage && event.raw === "[DONE]" ? [usageChunk(own), event] : event;
      const vendor = object(data, "x_groq");
      const failure = text(vendor, "error");
      if (failure !== undefined) return { event: undefined, data: { error: { message: failure } }, raw: "" };
      const usage = object(vendor, "usage");
      if (usage) own = { ...data, usage };
      hasUsage ||= data["usage"] !== undefined;
      const clean = eachMessage(omitMembers(data, ["x_groq"]), (delta) => omitMembers(delta, ["channel"]));
      return clean === data ? event : { event: event.event, data: clean, raw: "" };
    };
  },
};

function usageChunk(last: JsonObject): StreamEvent {
  return { event: undefined, data: { ...omitMembers(last, ["x_groq"]), choices: [] }, raw: "" };
}

export const groq = openaiCompatible({
  type: 1001,
  id: "groq",
  label: "Groq",
  baseUrl: "https://api.groq.com/openai",
  files: OPENAI_FILES,
  batches: {
    ...OPENAI_BATCHES,
    endpoints: ["/v1/chat/completions"],
    windows: ["24h", "48h", "72h", "96h", "120h", "144h", "168h", "1d", "2d", "3d", "4d", "5d", "6d", "7d"],
  },
  models: [
    "openai/gpt-oss-120b",
    "openai/gpt-oss-20b",
    "openai/gpt-oss-safeguard-20b",
    "llama-3.3-70b-versatile",
    "llama-3.1-8b-instant",
    "meta-llama/llama-4-scout-17b-16e-instruct",
    "qwen/qwen3-32b",
    "groq/compound",
    "groq/compound-mini",
    "meta-llama/llama-prompt-guard-2-22m",
    "meta-llama/llama-prompt-guard-2-86m",
    "whisper-large-v3",
    "whisper-large-v3-turbo",
    "canopylabs/orpheus-v1-english",
  ],
  operations: ["chat", "responses", "audio.speech", "audio.transcriptions", "audio.translations"],
  productMembers: ["compound_custom"],
  requestTransforms: [thinkingOff(/gpt-oss|qwen3/, { reasoning_effort: "none" }), groqParams],
  responseTransforms: [reasoningName, vendorMembers],
  keyHint: "gsk_...",
});
