import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject } from "./read-json.ts";

/** The source of a conversation's name in a request. */
export type AffinitySource =
  /** A request header; lower-case. */
  | { readonly type: "header"; readonly name: string }
  /**
   * A text or number in the body; path parts are separated by dots, and items of lists are given by index. With
   * `pattern`, its first group, and nothing if it does not match.
   */
  | { readonly type: "json"; readonly path: string; readonly pattern?: string }
  /** All requests of one token, or of one user. */
  | { readonly type: "token" | "user" }
  /** The beginning of a long prompt. */
  | { readonly type: "prompt" };

/** Sends requests to the channel that last served the same conversation. */
export interface AffinityRule {
  readonly name: string;
  /** Patterns for the model name of the client; one must match. Absent or empty = every model. */
  readonly model_regex?: readonly string[];
  /** Patterns for the path without the query; one must match. Absent or empty = every path. */
  readonly path_regex?: readonly string[];
  /** Sources in order; the first one that the request has is used. */
  readonly key_sources: readonly AffinitySource[];
  /** Seconds after its last request for which a conversation is remembered. */
  readonly ttl_seconds: number;
  /** True if a request that failed on its remembered channel is not retried on another one. */
  readonly skip_retry_on_failure: boolean;
  /** True if conversations of the same name are separate by group, in addition to their user. */
  readonly include_group: boolean;
  readonly include_model: boolean;
  readonly include_rule: boolean;
  /** True if the rule applies only to models whose cached input is cheaper. */
  readonly only_cached: boolean;
}

const DEFAULTS = {
  ttl_seconds: 3600,
  skip_retry_on_failure: false,
  include_group: false,
  include_model: true,
  include_rule: true,
  only_cached: false,
} as const;

const MAX_RULES = 50;
const MAX_SECONDS = 7 * 86_400;
const FLAGS = ["skip_retry_on_failure", "include_group", "include_model", "include_rule", "only_cached"] as const;
const LISTS = ["model_regex", "path_regex"] as const;
const MEMBERS: ReadonlySet<string> = new Set(["name", "key_sources", "ttl_seconds", ...FLAGS, ...LISTS]);

export const DEFAULT_AFFINITY_RULES = JSON.stringify([
  {
    name: "codex",
    model_regex: ["^gpt-"],
    path_regex: ["^/v1/responses"],
    key_sources: [{ type: "json", path: "prompt_cache_key" }],
  },
  {
    name: "claude code",
    path_regex: ["^/v1/messages"],
    key_sources: [
      { type: "header", name: "x-claude-code-session-id" },
      { type: "json", path: "metadata.user_id", pattern: "session_([\\w-]{8,64})$" },
    ],
  },
  { name: "named", key_sources: [{ type: "json", path: "prompt_cache_key" }] },
  { name: "cached input", only_cached: true, key_sources: [{ type: "json", path: "user" }, { type: "prompt" }] },
]);

/** JSON array of rules; the first rule whose model, path and source match identifies the conversation. */
export const affinityRulesType: OptionType<readonly AffinityRule[]> = {
  kind: "json",
  read: (text): Reading<readonly AffinityRule[]> => {
    let rules: unknown;
    try {
      rules = JSON.parse(text);
    } catch {
      rules = undefined;
    }
    if (!Array.isArray(rules) || rules.length > MAX_RULES) return broken(`a JSON array of at most ${MAX_RULES} rules`);
    for (const [index, rule] of rules.entries()) {
      const fault = isObject(rule) ? findRuleFault(rule) : "it is not an object";
      if (fault !== undefined) return broken(`affinity rules; in rule ${index + 1} ${fault}`);
    }
    return { isValid: true, value: rules.map((rule: object) => ({ ...DEFAULTS, ...rule }) as AffinityRule), text };
  },
};

function findRuleFault(rule: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(rule).find((member) => !MEMBERS.has(member));
  if (unknown !== undefined) return `${unknown} is unknown`;
  if (!isText(rule["name"], 64)) return "name is missing";
  for (const name of LISTS)
    if (rule[name] !== undefined && !isList(rule[name], isPattern)) return `${name} is not a list of patterns`;
  if (!isList(rule["key_sources"], isSource) || (rule["key_sources"] as unknown[]).length === 0)
    return "key_sources is not a list of sources";
  if (!isTime(rule["ttl_seconds"] ?? DEFAULTS.ttl_seconds)) return `ttl_seconds is not from 1 to ${MAX_SECONDS}`;
  const wrong = FLAGS.find((name) => rule[name] !== undefined && typeof rule[name] !== "boolean");
  return wrong && `${wrong} is not true or false`;
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_SECONDS;
}

function isSource(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, name, path, pattern } = value;
  if (type === "header") return isText(name, 64) && /^[\w-]+$/.test(name);
  if (type === "json") return isText(path, 128) && (pattern === undefined || isPattern(pattern));
  return type === "token" || type === "user" || type === "prompt";
}

function isPattern(value: unknown): boolean {
  if (!isText(value, 256)) return false;
  try {
    return new RegExp(value) instanceof RegExp;
  } catch {
    return false;
  }
}

function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= MAX_RULES && value.every(isItem);
}

function isText(value: unknown, max: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= max;
}

function broken(rule: string): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule };
}
