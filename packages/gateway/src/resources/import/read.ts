import { parseAllDocuments } from "yaml";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import type { GroupNames } from "./groups.ts";
import { findTokenCost, type TokenCost } from "./prices.ts";
import { isBifrost, readBifrost } from "./bifrost.ts";
import { createCredentials } from "./credentials.ts";
import { listUnserved } from "./fallbacks.ts";
import { UnknownConfig, type GatewayConfig, type ImportedChannel, type Variables } from "./gateway-config.ts";
import { configIn } from "./wrapped.ts";
import { readSettings, type LitellmSettings } from "./settings.ts";

/** Channel types by the prefix of a LiteLLM model name. */
const TYPES: Readonly<Record<string, number>> = {
  openai: 1,
  azure: 3,
  anthropic: 14,
  gemini: 24,
  vertex_ai: 41,
  bedrock: 33,
  groq: 1001,
  together_ai: 1002,
  fireworks_ai: 1003,
  mistral: 42,
  cohere: 34,
  cohere_chat: 34,
  deepseek: 43,
  openrouter: 20,
  perplexity: 27,
  ollama: 4,
  ollama_chat: 4,
  xai: 48,
  volcengine: 45,
  moonshot: 25,
  dashscope: 17,
  minimax: 35,
  jina_ai: 38,
  hosted_vllm: 1005,
  openai_like: 1005,
  custom_openai: 1005,
  lm_studio: 1005,
  llamafile: 1005,
  litellm_proxy: 1005,
  "text-completion-openai": 1,
};

const VERTEX = 41;
const FROM_ENVIRONMENT = "os.environ/";

/** Reads LiteLLM's YAML or Bifrost's JSON; keys given as variables are read from `env`. */
export function readConfig(text: string, env: Variables, groups: Pick<GroupNames, "isNamed">): GatewayConfig {
  const config = configIn(parseYaml(text), isConfig);
  if (!config)
    throw new UnknownConfig(
      "this is not a configuration of LiteLLM or Bifrost: it has no model_list and no providers, nor a ConfigMap, Helm values or a resource with one",
    );
  return Array.isArray(config["model_list"]) ? readLitellm(config, env, groups) : readBifrost(config, env);
}

function isConfig(value: JsonObject): boolean {
  return Array.isArray(value["model_list"]) || isBifrost(value);
}

function readLitellm(config: JsonObject, env: Variables, groups: Pick<GroupNames, "isNamed">): GatewayConfig {
  const notes: string[] = [];
  const found: Found = { channels: [], notes, costs: new Map(), left: new Map(), groups };
  const withCredential = createCredentials(config, notes);
  const list = Array.isArray(config["model_list"]) ? config["model_list"] : [];
  for (const entry of list) readModel(entry, { env, withCredential }, found);
  const { channels, costs, left } = found;
  const settings = readSettings(config);
  addAliases(found, settings.aliases);
  for (const [name, models] of left) notes.push(`${name} of ${[...models].join(", ")} is not imported`);
  const general = isObject(config["general_settings"]) ? config["general_settings"] : {};
  if (general["master_key"] !== undefined) {
    notes.push("keys that LiteLLM gave out are in its database: name it with --database");
  }
  const masterKey = resolved(general["master_key"], env, () => {});
  const { retries, strategy, fallbacks } = settings;
  const served = new Set(channels.flatMap(({ models }) => [...models.keys()]));
  const unserved = fallbacks ? listUnserved(fallbacks, served) : [];
  if (unserved.length > 0) notes.push(`no channel serves the fallback ${unserved.join(", ")}`);
  return { channels, costs, retries, strategy, fallbacks, masterKey, notes: [...notes, ...settings.notes] };
}

/** Parses YAML. Manifests of a cluster are several documents in one file. */
function parseDocuments(text: string): unknown {
  const all = parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as unknown;
  });
  return all.length === 1 ? all[0] : all;
}

/** Parses YAML; errors are one sentence without lines of the file, which may contain keys. */
function parseYaml(text: string): unknown {
  try {
    return parseDocuments(text);
  } catch (cause) {
    const [reason = ""] = cause instanceof Error ? cause.message.split("\n", 1) : [];
    throw new UnknownConfig(`the configuration is no YAML: ${reason.replace(/:$/, "")}`, { cause });
  }
}

/** Adds the aliases of a model as names to its channels. */
function addAliases({ channels, notes, costs }: Found, aliases: LitellmSettings["aliases"]): void {
  for (const [alias, model] of aliases) {
    const serving = channels.filter(({ models }) => models.has(model));
    for (const { models } of serving) {
      const there = models.get(model) ?? model;
      const before = models.get(alias);
      if (before !== undefined && before !== there)
        notes.push(`the alias ${alias} stands for ${before} and ${there} of one channel: the first is taken`);
      else models.set(alias, there);
    }
    const cost = costs.get(model);
    if (cost && !costs.has(alias)) costs.set(alias, cost);
    if (serving.length === 0) notes.push(`the alias ${alias} is of ${model}, which no channel serves`);
  }
}

interface Found {
  readonly channels: ImportedChannel[];
  readonly notes: string[];
  readonly costs: Map<string, TokenCost>;
  /** Parameters that are not imported, with their models. */
  readonly left: Map<string, Set<string>>;
  readonly groups: Pick<GroupNames, "isNamed">;
}

/** Parameters that are read. */
const KNOWN = [
  "model,custom_llm_provider,api_key,api_base,base_url,api_version,weight,rpm,tpm",
  "input_cost_per_token,output_cost_per_token,cache_read_input_token_cost,vertex_credentials,vertex_location",
  "aws_access_key_id,aws_secret_access_key,aws_region_name",
]
  .join()
  .split(",");

interface Sources {
  readonly env: Variables;
  readonly withCredential: ReturnType<typeof createCredentials>;
}

function readModel(entry: unknown, { env, withCredential }: Sources, found: Found): void {
  const { channels, notes } = found;
  const written = isObject(entry) && isObject(entry["litellm_params"]) ? entry["litellm_params"] : undefined;
  const name = isObject(entry) && typeof entry["model_name"] === "string" ? entry["model_name"] : "";
  const params = written && name !== "" ? withCredential(name, written) : undefined;
  if (!params) return void notes.push("an entry of model_list without a name or parameters is left out");
  const resolve = (member: string) =>
    resolved(params[member], env, (variable) => {
      notes.push(`${name}: the variable ${variable} is not set, so its channel has no ${member}`);
    });
  const { provider, model } = splitModel(resolve("model"), resolve("custom_llm_provider"));
  const type = TYPES[provider];
  if (type === undefined) return void notes.push(`${name}: the provider ${provider} is not known here`);
  if (model.includes("*") || name.includes("*"))
    return void notes.push(`${name}: patterns are not taken over, name the models`);
  const info = (entry as JsonObject)["model_info"];
  readDetails(name, params, info, found);
  const channel = {
    ...withoutFile(readChannel(params, resolve, { provider, type }), name, notes),
    accessGroups: accessGroupsIn(info, name, found),
  };
  const same = channels.find((other) => isSame(other, channel) && (other.models.get(name) ?? model) === model);
  if (same) same.models.set(name, model);
  else channels.push({ ...channel, models: new Map([[name, model]]) });
}

/** Removes a path as key: it leads to a file on LiteLLM's machine. */
function withoutFile<T extends Pick<ImportedChannel, "type" | "key">>(channel: T, name: string, notes: string[]): T {
  if (channel.type !== VERTEX || channel.key === "" || parseObject(channel.key) !== undefined) return channel;
  notes.push(`${name}: vertex_credentials is the path of a file, which is not read: its content is the key`);
  return { ...channel, key: "" };
}

/** Reads the price of a model, and the parameters that have no equivalent here. */
function readDetails(name: string, params: JsonObject, info: unknown, { costs, left }: Found): void {
  const cost = findTokenCost(params, info);
  if (cost) costs.set(name, cost);
  for (const param of Object.keys(params).filter((one) => !KNOWN.includes(one)))
    left.set(param, (left.get(param) ?? new Set()).add(name));
}

/** Returns the model groups that have a name here; the report lists the others. */
function accessGroupsIn(info: unknown, name: string, { left, groups }: Found): string[] {
  const listed = isObject(info) ? info["access_groups"] : undefined;
  const all = (Array.isArray(listed) ? listed : []).filter((one) => typeof one === "string");
  for (const group of all.filter((one) => !groups.isNamed(one))) {
    const what = `the access group ${group}`;
    left.set(what, (left.get(what) ?? new Set()).add(name));
  }
  return all.filter((one) => groups.isNamed(one));
}

type Resolve = (member: string) => string;

function readChannel(
  params: JsonObject,
  resolve: Resolve,
  { provider, type }: { provider: string; type: number },
): Omit<ImportedChannel, "models" | "accessGroups"> {
  const key = type === 33 ? awsKey(resolve) : type === 41 ? resolve("vertex_credentials") : resolve("api_key");
  const weight = typeof params["weight"] === "number" ? Math.max(0, Math.trunc(params["weight"])) : 0;
  const other = type === 3 ? resolve("api_version") : type === 41 ? resolve("vertex_location") : "";
  const base = (resolve("api_base") || resolve("base_url")).replace(/\/+$/, "");
  // LiteLLM's addresses end with the version; ours do not.
  return {
    provider,
    name: "",
    setting: {},
    type,
    key,
    baseUrl: type === 1 ? base.replace(/\/v1$/, "") : base,
    other,
    weight,
    limits: limitsIn(params),
  };
}

/** Returns the limits of a model. In LiteLLM they apply to one model, so it gets its own channel. */
function limitsIn(params: JsonObject): ImportedChannel["limits"] {
  const { rpm, tpm } = params;
  return { ...(isLimit(rpm) && { rpm }), ...(isLimit(tpm) && { tpm }) };
}

function isLimit(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function awsKey(resolve: Resolve): string {
  return ["aws_access_key_id", "aws_secret_access_key", "aws_region_name"].map(resolve).join("|");
}

/** Splits `azure/gpt-4o`; a name without a known prefix belongs to the vendor that it suggests. */
function splitModel(text: string, named: string): { readonly provider: string; readonly model: string } {
  const slash = text.indexOf("/");
  const prefix = slash < 0 ? "" : text.slice(0, slash);
  if (named !== "") return { provider: named, model: prefix === named ? text.slice(slash + 1) : text };
  if (prefix !== "") return { provider: prefix, model: text.slice(slash + 1) };
  const provider = text.startsWith("claude") ? "anthropic" : text.startsWith("gemini") ? "gemini" : "openai";
  return { provider, model: text };
}

function resolved(value: unknown, env: Variables, onMissing: (variable: string) => void): string {
  if (typeof value !== "string") return value === undefined || value === null ? "" : JSON.stringify(value);
  if (!value.startsWith(FROM_ENVIRONMENT)) return value;
  const variable = value.slice(FROM_ENVIRONMENT.length);
  const found = env[variable] ?? "";
  if (found === "") onMissing(variable);
  return found;
}

function isSame(a: ImportedChannel, b: Omit<ImportedChannel, "models">): boolean {
  const isLimited = [a, b].some(({ limits }) => Object.keys(limits).length > 0);
  return (
    !isLimited &&
    a.type === b.type &&
    a.key === b.key &&
    a.baseUrl === b.baseUrl &&
    a.other === b.other &&
    a.weight === b.weight &&
    a.accessGroups.join() === b.accessGroups.join()
  );
}
