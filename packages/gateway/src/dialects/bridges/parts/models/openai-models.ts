// The features of OpenAI's reasoning models, by the generation in their names.

/** The reasoning features of an OpenAI model, derived from its name. */
export interface ReasoningModel {
  /** The name without the effort suffix of compatible gateways (`o3-mini-high`). */
  readonly name: string;
  /** The effort that the suffix requests. */
  readonly suffix: string | undefined;
  /** Generation of a gpt model, 0 for the o series. */
  readonly major: number;
  readonly minor: number;
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/**
 * Returns undefined for models that do not reason. `gpt-5-chat-latest` does not; models named like `gpt-5.3-chat` do.
 */
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

/** The efforts that models take. The first match wins; models without a match get the requested effort. */
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

/** Returns the requested effort, or the nearest lower one that the model takes, or its lowest. */
export function nearestEffort(asked: string, model: ReasoningModel): string {
  const name = model.name.replace(/^openai\//, "");
  const allowed = EFFORTS_OF.find(([pattern]) => pattern.test(name))?.[1];
  const rank = EFFORTS.indexOf(asked as (typeof EFFORTS)[number]);
  if (!allowed || rank < 0 || allowed.includes(asked)) return asked;
  const lower = EFFORTS.slice(0, rank).findLast((effort) => allowed.includes(effort));
  return lower ?? allowed[0] ?? asked;
}

/** Returns the least effort of a model that reasons by default; undefined for other models. */
export function leastEffort(model: string): string | undefined {
  const reasoner = reasoningModel(model);
  return reasoner && nearestEffort("none", reasoner);
}
