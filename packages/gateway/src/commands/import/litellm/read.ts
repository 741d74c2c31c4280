import { parse } from "yaml";
import { isObject, type JsonObject } from "../../../lib/text/json.ts";

/** One upstream of a configuration of LiteLLM, with all the models that it serves there. */
export interface LitellmChannel {
  readonly provider: string;
  readonly type: number;
  readonly key: string;
  readonly baseUrl: string;
  readonly other: string;
  readonly weight: number;
  /** Name for clients to name at the upstream. */
  readonly models: Map<string, string>;
}

export interface LitellmConfig {
  readonly channels: readonly LitellmChannel[];
  /** What could not be taken over, and why. */
  readonly notes: readonly string[];
}

type Source = Readonly<Record<string, string | undefined>>;

/** Prefix of a model name there to the channel type here. */
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
};

const FROM_ENVIRONMENT = "os.environ/";

/** Reads the YAML of `model_list`; keys named by variables are taken from `env`. */
export function readLitellm(text: string, env: Source): LitellmConfig {
  const config: unknown = parse(text);
  const list = isObject(config) ? config["model_list"] : undefined;
  if (!Array.isArray(list)) throw new Error("this is no configuration of LiteLLM: it has no model_list");
  const channels: LitellmChannel[] = [];
  const notes: string[] = [];
  for (const entry of list) readModel(entry, env, { channels, notes });
  const settings = isObject(config) && isObject(config["general_settings"]) ? config["general_settings"] : {};
  if (settings["master_key"] !== undefined) {
    notes.push("keys that LiteLLM gave out stand in its database: name it with --database");
  }
  return { channels, notes };
}

interface Found {
  readonly channels: LitellmChannel[];
  readonly notes: string[];
}

function readModel(entry: unknown, env: Source, { channels, notes }: Found): void {
  const params = isObject(entry) && isObject(entry["litellm_params"]) ? entry["litellm_params"] : undefined;
  const name = isObject(entry) && typeof entry["model_name"] === "string" ? entry["model_name"] : "";
  if (!params || name === "") return void notes.push("an entry of model_list without a name or parameters is left out");
  const resolve = (member: string) =>
    resolved(params[member], env, (variable) => {
      notes.push(`${name}: the variable ${variable} is not set, so its channel has no ${member}`);
    });
  const { provider, model } = splitModel(resolve("model"), resolve("custom_llm_provider"));
  const type = TYPES[provider];
  if (type === undefined) return void notes.push(`${name}: the provider ${provider} is not known here`);
  if (model.includes("*") || name.includes("*"))
    return void notes.push(`${name}: patterns are not taken over, name the models`);
  const channel = channelOf(params, resolve, { provider, type });
  const same = channels.find((other) => isSame(other, channel) && (other.models.get(name) ?? model) === model);
  if (same) same.models.set(name, model);
  else channels.push({ ...channel, models: new Map([[name, model]]) });
}

type Resolve = (member: string) => string;

function channelOf(params: JsonObject, resolve: Resolve, { provider, type }: { provider: string; type: number }) {
  const key = type === 33 ? awsKey(resolve) : type === 41 ? resolve("vertex_credentials") : resolve("api_key");
  const weight = typeof params["weight"] === "number" ? Math.max(0, Math.trunc(params["weight"])) : 0;
  const other = type === 3 ? resolve("api_version") : type === 41 ? resolve("vertex_location") : "";
  const base = (resolve("api_base") || resolve("base_url")).replace(/\/+$/, "");
  // Addresses there end in the version; those here do not.
  return { provider, type, key, baseUrl: type === 1 ? base.replace(/\/v1$/, "") : base, other, weight };
}

function awsKey(resolve: Resolve): string {
  return ["aws_access_key_id", "aws_secret_access_key", "aws_region_name"].map(resolve).join("|");
}

/** `azure/gpt-4o`; a name without a known prefix goes to the vendor that it speaks of. */
function splitModel(text: string, named: string): { readonly provider: string; readonly model: string } {
  const slash = text.indexOf("/");
  const prefix = slash < 0 ? "" : text.slice(0, slash);
  if (named !== "") return { provider: named, model: prefix === named ? text.slice(slash + 1) : text };
  if (prefix !== "") return { provider: prefix, model: text.slice(slash + 1) };
  const provider = text.startsWith("claude") ? "anthropic" : text.startsWith("gemini") ? "gemini" : "openai";
  return { provider, model: text };
}

function resolved(value: unknown, env: Source, onMissing: (variable: string) => void): string {
  if (typeof value !== "string") return value === undefined || value === null ? "" : JSON.stringify(value);
  if (!value.startsWith(FROM_ENVIRONMENT)) return value;
  const variable = value.slice(FROM_ENVIRONMENT.length);
  const found = env[variable] ?? "";
  if (found === "") onMissing(variable);
  return found;
}

function isSame(a: LitellmChannel, b: Omit<LitellmChannel, "models">): boolean {
  return (
    a.type === b.type && a.key === b.key && a.baseUrl === b.baseUrl && a.other === b.other && a.weight === b.weight
  );
}
