import { INCLUDED_LOGPROBS } from "../../../dialects/bridges/parts/answer/logprobs.ts";
import type { Body, JsonObject } from "../../../dialects/core/types.ts";
import { list, object, objects, text } from "../../../dialects/core/read.ts";
import type { RequestTransform } from "../../core/types.ts";
import { eachObject, without } from "../../../dialects/core/json-edit.ts";

/** The reasoning features of an OpenAI model, derived from its name. */
export interface ReasoningModel {
  /** Without compatible gateways' effort suffix (`o3-mini-high`). */
  readonly name: string;
  /** Effort that the suffix asked for. */
  readonly suffix: string | undefined;
  /** Generation of a gpt model, 0 for the o series. */
  readonly major: number;
  readonly minor: number;
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** Undefined for models that do not reason. `gpt-5-chat-latest` does not; `gpt-5.3-chat` style names do. */
export function reasoningModel(model: string): ReasoningModel | undefined {
  const found = /^(?:openai\/)?(?:o([1-9])|gpt-(\d+)(?:\.(\d+))?)((?:-[\w.]+)*)$/.exec(model);
  if (!found) return undefined;
  const [, series, major = "0", minor = "0", tail = ""] = found;
  if (series === undefined && (Number(major) < 5 || (found[3] === undefined && tail.startsWith("-chat"))))
    return undefined;
  const suffix = /-(none|minimal|low|medium|high|xhigh)$/.exec(tail)?.[1];
  const name = suffix === undefined ? model : model.slice(0, -suffix.length - 1);
  return { name, suffix, major: Number(major), minor: Number(minor) };
}

const LOW_TO_HIGH = ["low", "medium", "high"];

/** The efforts that models take; first match wins, models that none matches get what was asked. */
const EFFORTS_OF: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^o\d|^gpt-5(?:\.1)?-codex/, LOW_TO_HIGH],
  [/^gpt-5\.\d+-codex/, [...LOW_TO_HIGH, "xhigh"]],
  [/^gpt-5-pro/, ["high"]],
  [/^gpt-5\.\d+-pro/, ["medium", "high", "xhigh"]],
  [/^gpt-5(?:-|$)/, ["minimal", ...LOW_TO_HIGH]],
  [/^gpt-5\.1/, ["none", ...LOW_TO_HIGH]],
  [/^gpt-5\.[2-5]/, ["none", ...LOW_TO_HIGH, "xhigh"]],
  [/^gpt-5\.\d/, ["none", ...LOW_TO_HIGH, "xhigh", "max"]],
  [/^gpt-6-astra/, [...LOW_TO_HIGH, "xhigh", "max"]],
];

/** The asked effort, or the nearest lower one that the model takes, or its lowest. */
export function nearestEffort(asked: string, model: ReasoningModel): string {
  const name = model.name.replace(/^openai\//, "");
  const allowed = EFFORTS_OF.find(([pattern]) => pattern.test(name))?.[1];
  const rank = EFFORTS.indexOf(asked as (typeof EFFORTS)[number]);
  if (!allowed || rank < 0 || allowed.includes(asked)) return asked;
  const lower = EFFORTS.slice(0, rank).findLast((effort) => allowed.includes(effort));
  return lower ?? allowed[0] ?? asked;
}

const NEVER_TAKEN = ["presence_penalty", "frequency_penalty", "logit_bias", "top_logprobs"];
const WITHOUT_REASONING_ONLY = ["temperature", "top_p", "logprobs"];

/** Renames or removes parameters that OpenAI's reasoning models refuse on chat completions. */
export const reasoningParams: RequestTransform = {
  name: "reasoning model parameters",
  apply(body, _ask, upstreamModel) {
    const model = reasoningModel(upstreamModel);
    if (!model) return body;
    return rolesForReasoning(limitsForReasoning(effortForReasoning(body, model), model), model);
  },
};

/** The same for requests that were converted to the Responses API; what its own clients write is theirs. */
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
    const preserved = isSilent ? body : withoutLogprobs(without(body, ["temperature", "top_p"]));
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
  const preserved = without(body, lost);
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
  const preserved = without(body, isSilent ? NEVER_TAKEN : [...NEVER_TAKEN, ...WITHOUT_REASONING_ONLY]);
  const limit = preserved["max_tokens"];
  if (limit === undefined) return preserved;
  const { max_tokens: _renamed, ...rest } = preserved;
  return { ...rest, max_completion_tokens: rest["max_completion_tokens"] ?? limit };
}

/** `system` is called `developer`; the first o1 previews know neither. */
function rolesForReasoning(body: JsonObject, model: ReasoningModel): JsonObject {
  if (/^o1-(?:mini|preview)/.test(model.name)) return body;
  return eachObject(body, "messages", (message) =>
    message["role"] === "system" ? { ...message, role: "developer" } : message,
  );
}

/** Models that the vendor serves on the Responses API and nowhere else. */
const RESPONSES_ONLY =
  /^(?:openai\/)?(?:(?:o\d|gpt-[5-9](?:\.\d+)?)-pro|gpt-5(?:\.\d+)?-codex|codex-mini|o\d(?:-mini)?-deep-research)(?:-|$)/;

/** From gpt-5.4 on, function tools together with reasoning are refused on chat completions; only the effort `none` passes. */
export function needsResponses(upstreamModel: string, body: Body | undefined): boolean {
  if (RESPONSES_ONLY.test(upstreamModel)) return true;
  const model = reasoningModel(upstreamModel);
  if (!model || model.major < 5 || (model.major === 5 && model.minor < 4)) return false;
  const json = body?.json();
  const hasTools = list(json, "tools").length > 0 || list(json, "functions").length > 0;
  return hasTools && (json?.["reasoning_effort"] ?? model.suffix) !== "none" && !holdsSound(json);
}

/** The Responses API takes no sound. */
function holdsSound(json: JsonObject | undefined): boolean {
  return objects(json, "messages").some((message) =>
    objects(message, "content").some((part) => part["type"] === "input_audio"),
  );
}
