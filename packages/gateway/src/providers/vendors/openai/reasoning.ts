import {
  nearestEffort,
  reasoningModel,
  type ReasoningModel,
} from "../../../dialects/bridges/parts/models/openai-models.ts";
import { INCLUDED_LOGPROBS } from "../../../dialects/bridges/parts/answer/logprobs.ts";
import type { Body, JsonObject } from "../../../dialects/core/types.ts";
import { list, object, objects, text } from "../../../dialects/core/read.ts";
import type { RequestTransform } from "../../core/types.ts";
import { eachObject, omitMembers } from "../../../dialects/core/json-edit.ts";

const NEVER_TAKEN = ["presence_penalty", "frequency_penalty", "logit_bias", "top_logprobs"];
const WITHOUT_REASONING_ONLY = ["temperature", "top_p", "logprobs"];

/** Renames or removes parameters that OpenAI's reasoning models refuse on chat completions. */
export const reasoningParams: RequestTransform = {
  name: "reasoning model parameters",
  apply(body, _spec, upstreamModel) {
    const model = reasoningModel(upstreamModel);
    if (!model) return body;
    return rolesForReasoning(limitsForReasoning(effortForReasoning(body, model), model), model);
  },
};

/**
 * The same repair for requests that were converted to the Responses API; requests of its own clients stay unchanged.
 */
export const reasoningResponses: RequestTransform = {
  name: "reasoning model parameters of converted requests",
  on: ["openai-responses"],
  apply(body, spec, upstreamModel) {
    const model = spec.dialect === "openai-responses" ? undefined : reasoningModel(upstreamModel);
    if (!model) return body;
    const reasoning = object(body, "reasoning");
    const asked = text(reasoning, "effort") ?? model.suffix;
    const effort = asked === undefined ? undefined : nearestEffort(asked, model);
    const isSilent = effort === "none" && (model.major > 5 || model.minor >= 1);
    const preserved = isSilent ? body : withoutLogprobs(omitMembers(body, ["temperature", "top_p"]));
    if (effort === text(reasoning, "effort") && body["model"] === model.name) return preserved;
    return {
      ...preserved,
      model: model.name,
      reasoning: { ...reasoning, ...(effort === undefined ? {} : { effort }) },
    };
  },
};

function withoutLogprobs(body: JsonObject): JsonObject {
  const include = list(body, "include");
  const others = include.filter((name) => name !== INCLUDED_LOGPROBS);
  const lost = others.length === 0 ? ["top_logprobs", "include"] : ["top_logprobs"];
  const preserved = omitMembers(body, lost);
  return others.length === 0 || others.length === include.length ? preserved : { ...preserved, include: others };
}

function effortForReasoning(body: JsonObject, model: ReasoningModel): JsonObject {
  const asked = body["reasoning_effort"] ?? model.suffix;
  if (typeof asked !== "string") return body;
  const effort = nearestEffort(asked, model);
  const isSame = effort === body["reasoning_effort"] && (model.suffix === undefined || body["model"] === model.name);
  return isSame ? body : { ...body, model: model.name, reasoning_effort: effort };
}

function limitsForReasoning(body: JsonObject, model: ReasoningModel): JsonObject {
  const isSilent = body["reasoning_effort"] === "none" && (model.major > 5 || model.minor >= 1);
  const preserved = omitMembers(body, isSilent ? NEVER_TAKEN : [...NEVER_TAKEN, ...WITHOUT_REASONING_ONLY]);
  const limit = preserved["max_tokens"];
  if (limit === undefined) return preserved;
  const { max_tokens: _renamed, ...rest } = preserved;
  return { ...rest, max_completion_tokens: rest["max_completion_tokens"] ?? limit };
}

/** Renames the role `system` to `developer`; the first o1 previews know neither. */
function rolesForReasoning(body: JsonObject, model: ReasoningModel): JsonObject {
  if (/^o1-(?:mini|preview)/.test(model.name)) return body;
  return eachObject(body, "messages", (message) =>
    message["role"] === "system" ? { ...message, role: "developer" } : message,
  );
}

/** Models that the vendor serves on the Responses API and nowhere else. */
const RESPONSES_ONLY =
  /^(?:openai\/)?(?:(?:o\d|gpt-[5-9](?:\.\d+)?)-pro|gpt-5(?:\.\d+)?-codex|codex-mini|o\d(?:-mini)?-deep-research)(?:-|$)/;

/**
 * True if the request needs the Responses API. From gpt-5.4 on, chat completions refuse function tools together with
 * reasoning, except with the effort `none`.
 */
export function needsResponses(upstreamModel: string, body: Body | undefined): boolean {
  if (RESPONSES_ONLY.test(upstreamModel)) return true;
  const model = reasoningModel(upstreamModel);
  if (!model || model.major < 5 || (model.major === 5 && model.minor < 4)) return false;
  const json = body?.json();
  const hasTools = list(json, "tools").length > 0 || list(json, "functions").length > 0;
  return hasTools && (json?.["reasoning_effort"] ?? model.suffix) !== "none" && !holdsSound(json);
}

/** True if the request holds sound, which the Responses API does not take. */
function holdsSound(json: JsonObject | undefined): boolean {
  return objects(json, "messages").some((message) =>
    objects(message, "content").some((part) => part["type"] === "input_audio"),
  );
}
