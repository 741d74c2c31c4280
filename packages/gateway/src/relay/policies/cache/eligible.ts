import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject, JsonValue, Operation } from "../../../dialects/core/types.ts";
import { isObject } from "../../../lib/text/json.ts";
import type { RelayRequest } from "../../request/request.ts";

/** Whether a request may read and store cached answers. */
export interface Eligibility {
  /** False if the upstream must answer again; that answer is cached. */
  readonly mayRead: boolean;
}

/** Operations whose answers follow from the request alone. */
const DETERMINISTIC: ReadonlySet<Operation> = new Set(["embeddings", "rerank", "moderations"]);
/** Operations whose answers are cached at temperature 0, or if the client opts in. */
const SAMPLED: ReadonlySet<Operation> = new Set(["chat", "completions", "responses"]);
/** Members that tie a request to data or side effects at an upstream. */
const WITH_EFFECTS = [
  "background",
  "container",
  "conversation",
  "mcp_servers",
  "plugins",
  "previous_message_id",
  "previous_response_id",
  "prompt",
  "thread",
  "web_search_options",
];
const PLAIN_TOOLS: ReadonlySet<JsonValue | undefined> = new Set([undefined, "function", "custom"]);
const GEMINI_FUNCTIONS: ReadonlySet<string> = new Set(["functionDeclarations", "function_declarations"]);

/** Undefined if the cache does not apply to the request. */
export function resolveEligibility(request: RelayRequest, headers: IncomingHttpHeaders): Eligibility | undefined {
  const { operation } = request.spec;
  const directives = parseDirectives(headers["cache-control"]);
  const asked = headers["x-fairway-cache"];
  if (asked === "off" || directives.has("no-store")) return undefined;
  if (request.upload || request.pinnedAccount || request.storesAnswer) return undefined;
  const isSampled = SAMPLED.has(operation);
  if (!isSampled && !DETERMINISTIC.has(operation)) return undefined;
  const body = request.body.json();
  if (isSampled && (hasEffects(body, operation) || !(asked === "on" || isPlainAndCold(body)))) return undefined;
  return { mayRead: !directives.has("no-cache") };
}

function parseDirectives(header: string | undefined): ReadonlySet<string> {
  return new Set((header ?? "").split(",").map((one) => one.trim().toLowerCase()));
}

/** True if the upstream would store something or use a tool of its own. */
function hasEffects(body: JsonObject, operation: Operation): boolean {
  if (body["store"] === true) return true;
  const members = operation === "completions" ? WITH_EFFECTS.filter((name) => name !== "prompt") : WITH_EFFECTS;
  if (members.some((name) => isGiven(body[name]))) return true;
  return isGiven(body["tools"]) && !(Array.isArray(body["tools"]) && body["tools"].every(isFunction));
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** True for a tool that is only declared: the client runs it. */
function isFunction(tool: JsonValue): boolean {
  if (!isObject(tool) || !PLAIN_TOOLS.has(tool["type"])) return false;
  return tool["type"] !== undefined || "name" in tool || Object.keys(tool).every((name) => GEMINI_FUNCTIONS.has(name));
}

/** True for a request for one answer at temperature 0 without any tools. */
function isPlainAndCold(body: JsonObject): boolean {
  const config = body["generationConfig"] ?? body["generation_config"];
  const settings = isObject(config) ? config : body;
  const count = settings["n"] ?? settings["candidateCount"] ?? 1;
  return settings["temperature"] === 0 && count === 1 && !isGiven(body["tools"]) && !isGiven(body["functions"]);
}
