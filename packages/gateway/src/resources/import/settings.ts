import type { ChannelStrategy } from "@fairway/wire";
import { isObject, type JsonObject } from "../../lib/text/json.ts";
import { FALLBACK_SETTINGS, FallbackReader, type ImportedFallbacks } from "./fallbacks.ts";

/** Settings of a LiteLLM configuration outside its `model_list`. */
export interface LitellmSettings {
  /** Aliases of models; one alias may mean several models. */
  readonly aliases: readonly (readonly [alias: string, model: string])[];
  /** Number of retries after a failure. */
  readonly retries: number | undefined;
  readonly strategy: ChannelStrategy | undefined;
  readonly fallbacks: ImportedFallbacks | undefined;
  /** Settings that were not imported, with reasons. */
  readonly notes: readonly string[];
}

const SECTIONS = ["general_settings", "litellm_settings", "router_settings"] as const;
/** Settings that are read here or elsewhere; all others are reported. */
const CARRIED: readonly string[] = [
  "num_retries",
  "model_group_alias",
  "master_key",
  "routing_strategy",
  ...FALLBACK_SETTINGS,
];

const REASONS: Readonly<Record<string, string>> = {
  database_url: "the gateway has a database of its own",
};

export function readSettings(config: JsonObject): LitellmSettings {
  const notes: string[] = [];
  const aliases: [string, string][] = [];
  const fallbacks = new FallbackReader(notes);
  let retries: number | undefined;
  let strategy: ChannelStrategy | undefined;
  for (const section of SECTIONS) {
    const members = config[section];
    if (!isObject(members)) continue;
    if (typeof members["num_retries"] === "number") retries = members["num_retries"];
    strategy ??= readStrategy(members["routing_strategy"], `${section}.routing_strategy`, notes);
    aliases.push(...aliasesIn(members["model_group_alias"], notes));
    for (const name of FALLBACK_SETTINGS) fallbacks.read(name, members[name], `${section}.${name}`);
    for (const name of Object.keys(members).filter((one) => !CARRIED.includes(one)))
      notes.push(describeSkipped(`${section}.${name}`, REASONS[name]));
  }
  const rest = Object.keys(config).filter(
    (name) => name !== "model_list" && name !== "credential_list" && !SECTIONS.some((one) => one === name),
  );
  for (const name of rest) notes.push(`${name} is not imported`);
  return { aliases, retries, strategy, fallbacks: fallbacks.finish(), notes };
}

const STRATEGIES: ReadonlyMap<unknown, ChannelStrategy> = new Map([
  ["simple-shuffle", "weight"],
  ["least-busy", "least_busy"],
  ["latency-based-routing", "latency"],
  ["cost-based-routing", "cost"],
  ["usage-based-routing", "weight"],
  ["usage-based-routing-v2", "weight"],
]);

/** Reads how channels are chosen; a strategy by usage needs none here, because limits are exact and full channels wait. */
function readStrategy(value: unknown, name: string, notes: string[]): ChannelStrategy | undefined {
  if (value === undefined) return undefined;
  const strategy = STRATEGIES.get(value);
  if (strategy === undefined) notes.push(`${name} is not imported: it is none of ${[...STRATEGIES.keys()].join(", ")}`);
  else if (typeof value === "string" && value.startsWith("usage-"))
    notes.push(`${name} becomes weight: give the channels limits, which are exact`);
  return strategy;
}

/** Reads an alias: a name, an object with a name, or a list of names that are tried in turn. */
function aliasesIn(value: unknown, notes: string[]): [string, string][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([alias, target]): [string, string][] => {
    const listed = Array.isArray(target) ? target : [isObject(target) ? target["model"] : target];
    const models = listed.filter((one) => typeof one === "string");
    if (models.length === 0) notes.push(`the alias ${alias} names no model: it is not imported`);
    return models.map((model) => [alias, model]);
  });
}

/** Values of settings may be secret, so only the name is reported. */
function describeSkipped(name: string, reason: string | undefined): string {
  return `${name} is not imported${reason === undefined ? "" : `: ${reason}`}`;
}
