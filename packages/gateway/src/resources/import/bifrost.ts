import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import { isModelName } from "../../dialects/core/request-spec.ts";
import { providerByType } from "../../providers/registry.ts";
import type { GatewayConfig, ImportedChannel, Variables } from "./gateway-config.ts";

/** Channel types by Bifrost's providers; some are an address of another type. */
const TYPES: Readonly<Record<string, { readonly type: number; readonly baseUrl?: string }>> = {
  openai: { type: 1 },
  azure: { type: 3 },
  ollama: { type: 4 },
  anthropic: { type: 14 },
  openrouter: { type: 20 },
  gemini: { type: 24 },
  perplexity: { type: 27 },
  bedrock: { type: 33 },
  cohere: { type: 34 },
  vertex: { type: 41 },
  mistral: { type: 42 },
  xai: { type: 48 },
  groq: { type: 1001 },
  fireworks: { type: 1003 },
  vllm: { type: 1005 },
  sgl: { type: 1005 },
  parasail: { type: 1005, baseUrl: "https://api.parasail.io" },
  cerebras: { type: 1005, baseUrl: "https://api.cerebras.ai" },
  nebius: { type: 1005, baseUrl: "https://api.tokenfactory.nebius.com" },
};

const AZURE = 3;
const BEDROCK = 33;
const VERTEX = 41;
const COMPATIBLE = 1005;
const OPENAI = 1;

/** Members that are read, and members without a meaning here: queue sizes, names, switches of Bifrost's own console. */
const KEY_MEMBERS = [
  "id name value models weight enabled aliases description use_for_batch_api status",
  "azure_key_config vertex_key_config bedrock_key_config vllm_key_config ollama_key_config sgl_key_config",
].flatMap((line) => line.split(" "));
const PROVIDER_MEMBERS = ["keys", "network_config", "proxy_config", "custom_provider_config"];
const NETWORK_MEMBERS = ["base_url", "extra_headers"];

/** Returns true for the content of a Bifrost `config.json`. */
export function isBifrost(value: JsonObject): boolean {
  const { providers } = value;
  return isObject(providers) && Object.values(providers).some((one) => isObject(one) && Array.isArray(one["keys"]));
}

interface Reading {
  readonly env: Variables;
  readonly notes: string[];
  readonly channels: ImportedChannel[];
}

/** Returns a channel for each key; clients call its models as `model` and, as in Bifrost, as `provider/model`. */
export function readBifrost(config: JsonObject, env: Variables): GatewayConfig {
  const reading: Reading = { env, notes: [], channels: [] };
  const { providers, ...others } = config;
  for (const [name, provider] of Object.entries(isObject(providers) ? providers : {}))
    if (isObject(provider)) readProvider(name, provider, reading);
  for (const member of Object.keys(others).filter((one) => one !== "$schema")) noteMember(member, others, reading);
  const { channels, notes } = reading;
  return {
    channels,
    costs: new Map(),
    retries: undefined,
    strategy: undefined,
    fallbacks: undefined,
    masterKey: "",
    notes,
  };
}

function noteMember(member: string, config: JsonObject, { notes }: Reading): void {
  const governance = config[member];
  const keys = member === "governance" && isObject(governance) ? governance["virtual_keys"] : undefined;
  if (Array.isArray(keys))
    notes.push(`${keys.length} virtual keys are not imported: clients need tokens of this gateway`);
  else notes.push(`${member} is not imported`);
}

function readProvider(name: string, provider: JsonObject, reading: Reading): void {
  const { notes } = reading;
  const custom = objectAt(provider, "custom_provider_config");
  const place = TYPES[textAt(custom, "base_provider_type", reading, name) || name];
  if (!place) return void notes.push(`the provider ${name} is not known here: its keys are left out`);
  const network = objectAt(provider, "network_config");
  for (const [from, known, prefix] of [
    [provider, PROVIDER_MEMBERS, ""],
    [network, NETWORK_MEMBERS, "network_config."],
  ] as const)
    for (const member of Object.keys(from).filter((one) => !known.includes(one)))
      notes.push(`${name}: ${prefix}${member} is not imported`);
  const base = textAt(network, "base_url", reading, name);
  // The address of another server that uses OpenAI's protocol.
  const type = place.type === OPENAI && base !== "" ? COMPATIBLE : place.type;
  const shared = {
    name,
    type,
    baseUrl: base || (place.baseUrl ?? ""),
    setting: readSetting(provider, network, reading, name),
  };
  for (const key of Array.isArray(provider["keys"]) ? provider["keys"] : [])
    if (isObject(key)) readKey(key, shared, reading);
}

interface Shared {
  readonly name: string;
  readonly type: number;
  readonly baseUrl: string;
  readonly setting: JsonObject;
}

function readKey(key: JsonObject, { name, type, baseUrl, setting }: Shared, reading: Reading): void {
  const { notes, channels } = reading;
  const called = typeof key["name"] === "string" && key["name"] !== "" ? `${name} ${key["name"]}` : name;
  if (key["enabled"] === false) return void notes.push(`${called} is switched off there: it is left out`);
  for (const member of Object.keys(key).filter((one) => !KEY_MEMBERS.includes(one)))
    notes.push(`${called}: ${member} is not imported`);
  const own = findOwnConfig(key);
  const at = (member: string) => textAt(own, member, reading, called);
  const renamed = { ...objectAt(own, "deployments"), ...objectAt(key, "aliases") };
  const models = readModels(key, renamed, { called, type, served: at("model_name") }, reading);
  if (models.length === 0) return;
  const secret = readSecret(type, textAt(key, "value", reading, called), at);
  const isPath = type === VERTEX && secret !== "" && parseObject(secret) === undefined;
  if (isPath) notes.push(`${called}: auth_credentials is not a key file, which is left out`);
  const channel = {
    provider: name,
    name: called,
    type,
    key: isPath ? "" : secret,
    baseUrl: (at("endpoint") || at("url") || baseUrl).replace(/\/+$/, ""),
    other: readOther(type, at),
    weight: toWeight(key["weight"]),
    limits: {},
    accessGroups: [],
    setting,
  };
  const there = (model: string) => (typeof renamed[model] === "string" ? renamed[model] : model);
  // The longer name maps to the shorter one and has its price.
  const pairs = models.flatMap((model) => [[model, there(model)] as const, [`${name}/${model}`, model] as const]);
  channels.push({ ...channel, models: new Map(pairs) });
}

/** Returns the settings that only keys of this provider have. */
function findOwnConfig(key: JsonObject): JsonObject {
  const member = Object.keys(key).find((one) => one.endsWith("_key_config") && isObject(key[one]));
  return member === undefined ? {} : objectAt(key, member);
}

/** Returns the version of Azure's API, or the region of Vertex. */
function readOther(type: number, at: (member: string) => string): string {
  if (type === AZURE) return at("api_version");
  return type === VERTEX ? at("region") : "";
}

/** Converts a share of 1 to a whole number. */
function toWeight(weight: unknown): number {
  return typeof weight === "number" && weight > 0 ? Math.max(1, Math.round(weight * 100)) : 0;
}

function readSecret(type: number, value: string, at: (member: string) => string): string {
  if (type === VERTEX) return at("auth_credentials") || value;
  if (type !== BEDROCK) return value;
  const [id, secret, session, region] = [at("access_key"), at("secret_key"), at("session_token"), at("region")];
  if (id === "") return value === "" ? "" : `${region}|${value}`;
  return session === "" ? [id, secret, region].join("|") : [region, id, secret, session].join("|");
}

interface Place {
  readonly called: string;
  readonly type: number;
  readonly served: string;
}

/** Returns the models; no list, or a star, means every model of the provider. */
function readModels(
  key: JsonObject,
  renamed: JsonObject,
  { called, type, served }: Place,
  { notes }: Reading,
): string[] {
  const listed = (Array.isArray(key["models"]) ? key["models"] : []).filter((one) => typeof one === "string");
  const named = [...listed.filter((one) => one !== "*" && isModelName(one)), ...Object.keys(renamed), served];
  const models = [...new Set(named.filter((one) => one !== ""))];
  if (models.length > 0) return models;
  const usual = [...(type === COMPATIBLE ? [] : (providerByType(type)?.models ?? []))];
  notes.push(
    usual.length === 0
      ? `${called} names no models, and there is not a list of them here: it is left out`
      : `${called} names no models: it gets the ${usual.length} usual ones of its type`,
  );
  return usual;
}

function readSetting(provider: JsonObject, network: JsonObject, reading: Reading, name: string): JsonObject {
  const headers = objectAt(network, "extra_headers");
  const texts = Object.keys(headers).map((header) => [header, textAt(headers, header, reading, name)] as const);
  const proxy = readProxy(objectAt(provider, "proxy_config"), reading, name);
  return {
    ...(proxy === "" ? {} : { proxy }),
    ...(texts.length === 0 ? {} : { headers: Object.fromEntries(texts) }),
  };
}

function readProxy(proxy: JsonObject, reading: Reading, name: string): string {
  const url = URL.parse(textAt(proxy, "url", reading, name));
  if (!url) return "";
  const [username, password] = [textAt(proxy, "username", reading, name), textAt(proxy, "password", reading, name)];
  if (username !== "") Object.assign(url, { username, password });
  return url.href.replace(/\/$/, "");
}

function objectAt(value: JsonObject, member: string): JsonObject {
  const found = value[member];
  return isObject(found) ? found : {};
}

const FROM_ENVIRONMENT = "env.";

/** Returns the text of a member: a plain text, `env.NAME`, or an object with one of them. */
function textAt(value: JsonObject, member: string, { env, notes }: Reading, name: string): string {
  const found = value[member];
  const named = isObject(found) && found["from_env"] === true ? found["env_var"] : undefined;
  const text = typeof named === "string" && named !== "" ? envText(named) : isObject(found) ? found["value"] : found;
  if (typeof text !== "string") return "";
  if (text.startsWith("vault.")) {
    notes.push(`${name}: ${member} is in a vault, which is not read`);
    return "";
  }
  if (!text.startsWith(FROM_ENVIRONMENT)) return text;
  const variable = text.slice(FROM_ENVIRONMENT.length);
  const set = env[variable] ?? "";
  if (set === "") notes.push(`${name}: the variable ${variable} is not set, so its channel has no ${member}`);
  return set;
}

function envText(name: string): string {
  return name.startsWith(FROM_ENVIRONMENT) ? name : FROM_ENVIRONMENT + name;
}
