// Extras that vendors charge for in addition to tokens: faster or nearer service, and tools that they run themselves.
import { invalidRequest } from "../../lib/app-error.ts";
import { isObject, isSet, list, number, object, objects, text } from "./read.ts";
import type { Body, DearTokens, JsonObject, JsonValue, Operation, RequestSpec } from "./types.ts";

export type VendorExtras = Pick<RequestSpec, "tiers" | "hostedTools" | "containers" | "hostedCalls" | "dearTokens">;

const OPERATIONS: ReadonlySet<Operation> = new Set(["chat", "completions", "responses"]);
/** Members that choose a tier, or name it in an answer, and the prefix of their values in tier names. */
export const TIER_MEMBERS: Readonly<Record<string, string>> = {
  service_tier: "",
  serviceTier: "",
  speed: "",
  inference_geo: "geo_",
};
const STANDARD = new Set([
  "",
  "auto",
  "default",
  "standard",
  "standard_only",
  "on_demand",
  "unspecified",
  "geo_global",
]);

/** Types of tools that the client runs, or that cost only tokens. */
const UNCHARGED_TOOLS = new Set([
  "apply_patch",
  "bash",
  "computer",
  "computer_use",
  "computer_use_preview",
  "custom",
  "function",
  "local_shell",
  "mcp",
  "mcp_toolset",
  "memory",
  "namespace",
  "str_replace_based_edit_tool",
  "text_editor",
  "tool_search",
  "tool_search_tool",
  "tool_search_tool_bm25",
  "tool_search_tool_regex",
  "web_fetch",
]);
/** Such tools among the members of a Gemini tool. */
const UNCHARGED_MEMBERS = new Set([
  "code_execution",
  "computer_use",
  "file_search",
  "function_declarations",
  "mcp_servers",
  "url_context",
]);
const SEARCH_MODEL = /-search-(?:preview|api)\b/;

/** Returns the extras of a request; undefined if it costs only tokens. */
export function vendorExtras({ bytes, json }: Body, spec: RequestSpec): VendorExtras | undefined {
  if (!OPERATIONS.has(spec.operation)) return undefined;
  const body = json();
  const dearTokens = listDearTokens(body, bytes);
  const tiers = listTiers(body);
  const tools = hostedTools(body, spec);
  if (!tiers && !tools && !dearTokens) return undefined;
  const hostedCalls = tools && callLimit(body);
  const containers = tools && listContainers(body);
  return {
    ...(tiers && { tiers }),
    ...(dearTokens && { dearTokens }),
    ...(tools && { hostedTools: tools }),
    ...(containers && { containers }),
    ...(hostedCalls !== undefined && { hostedCalls }),
  };
}

/** Parts that a body may hold, by the bytes that every such part contains. */
const MARKS = [
  ["audioInput", Buffer.from('"input_audio"')],
  ["audioInput", Buffer.from('"audio/')],
  ["write", Buffer.from('"cache_control"')],
] as const satisfies readonly (readonly [DearTokens, Buffer])[];
const FOR_AN_HOUR = Buffer.from('"1h"');

// Most requests have no extras, so the readers below create a list only for what they find.

function listDearTokens(body: JsonObject, bytes: Buffer): readonly DearTokens[] | undefined {
  const found = listMarked(bytes);
  const config = object(body, "generationConfig") ?? object(body, "generation_config");
  const isHeard = requestsAudio(body) || (config !== undefined && requestsAudio(config));
  return isHeard ? [...(found ?? []), "audioOutput"] : found;
}

function listMarked(bytes: Buffer): DearTokens[] | undefined {
  let found: DearTokens[] | undefined;
  for (const [kind, mark] of MARKS) if (!found?.includes(kind) && bytes.includes(mark)) (found ??= []).push(kind);
  if (found?.includes("write") && bytes.includes(FOR_AN_HOUR)) found.push("write1h");
  return found;
}

const MODALITIES = ["modalities", "responseModalities", "response_modalities"];

function requestsAudio(owner: JsonObject): boolean {
  for (const name of MODALITIES)
    if (isSet(owner[name]) && list(owner, name).some((one) => typeof one === "string" && one.toLowerCase() === "audio"))
      return true;
  return false;
}

function listTiers(body: JsonObject): string[] | undefined {
  let tiers: Set<string> | undefined;
  for (const member in TIER_MEMBERS) {
    const value = body[member];
    if (!isSet(value)) continue;
    if (typeof value !== "string") throw invalidRequest(member, `${member} must be a string.`);
    const tier = tierName(member, value);
    if (tier !== "") (tiers ??= new Set()).add(tier);
  }
  return tiers && [...tiers];
}

/** Returns the name under which a tier is priced; "" for the standard one. */
export function tierName(member: string, value: string): string {
  const name = `${TIER_MEMBERS[member] ?? ""}${value
    .trim()
    .toLowerCase()
    .replace(/^service_tier_/, "")}`;
  return STANDARD.has(name) ? "" : name.slice(0, 64);
}

/** Returns the hosted tools; empty if the vendor may know tools that the request does not name. */
function hostedTools(body: JsonObject, spec: RequestSpec): string[] | undefined {
  const named = spec.dialect === "gemini-generate" ? geminiTools : typedTools;
  let tools: Set<string> | undefined;
  const add = (tool: string) => (tools ??= new Set()).add(tool);
  for (const tool of toolList(body)) named(tool).forEach(add);
  addSwitchedOn(body, add);
  if (SEARCH_MODEL.test(spec.model)) add("web_search");
  const isStored = spec.operation === "responses" && isSet(body["prompt"]);
  return tools || isStored ? [...(tools ?? [])] : undefined;
}

/** Lists the containers that tools name by their ids; undefined if there are none. */
function listContainers(body: JsonObject): string[] | undefined {
  let found: string[] | undefined;
  for (const tool of toolList(body)) {
    const id = text(tool, "container") ?? text(object(tool, "environment"), "container_id");
    if (id !== undefined) (found ??= []).push(id);
  }
  return found;
}

/** Adds hosted tools that are switched on outside of the list of tools. */
function addSwitchedOn(body: JsonObject, add: (tool: string) => unknown): void {
  if (isSet(body["web_search_options"])) add("web_search");
  for (const name of SEARCHES) if (isOn(body[name])) add(name);
  for (const plugin of list(body, "plugins")) add(`plugin_${pluginName(plugin)}`.slice(0, 64));
}

/** Vendors' switches for their own searches. */
const SEARCHES = ["enable_search", "web_search", "enable_enhancement", "EnableEnhancement", "with_search_enhance"];

function isOn(value: JsonValue | undefined): boolean {
  if (!isSet(value) || value === false) return false;
  return !isObject(value) || value["enable"] !== false;
}

/** Returns a plug-in's name; some vendors write plug-ins as texts. */
function pluginName(plugin: JsonValue): string {
  if (typeof plugin === "string") return plugin.replace(/^plugin_/, "");
  return isObject(plugin) ? (text(plugin, "id") ?? "") : "";
}

function toolList(body: JsonObject): readonly JsonObject[] {
  const tools: JsonValue | undefined = body["tools"];
  return isObject(tools) ? [tools] : objects(body, "tools");
}

function typedTools(tool: JsonObject): string[] {
  const type = text(tool, "type")?.replace(/_\d{4}_?\d{2}_?\d{2}$/, "");
  if (type === undefined || UNCHARGED_TOOLS.has(type)) return [];
  if (type === "shell" && text(object(tool, "environment"), "type") === "local") return [];
  if (type === "builtin_function")
    return [(text(object(tool, "function"), "name") ?? type).replace(/^\$/, "").slice(0, 64)];
  const memory = text(object(tool, "container"), "memory_limit");
  return [`${type}${memory === undefined || memory === "1g" ? "" : `_${memory}`}`.slice(0, 64)];
}

function geminiTools(tool: JsonObject): string[] {
  return Object.keys(tool)
    .map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    .filter((name) => !UNCHARGED_MEMBERS.has(name))
    .map((name) => (name === "google_search_retrieval" ? "google_search" : name.slice(0, 64)));
}

/** Returns the calls that the request allows for all of its tools; undefined if it sets no limit. */
function callLimit(body: JsonObject): number | undefined {
  const own = number(body, "max_tool_calls");
  if (own !== undefined && own >= 0) return Math.ceil(own);
  const uses = toolList(body).flatMap((tool) => number(tool, "max_uses") ?? []);
  return uses.length > 0 && uses.every((count) => count >= 0) ? Math.ceil(Math.max(...uses)) : undefined;
}
