// Removes what a host of the Messages protocol refuses from a request and reports it, so that coding agents, which are
// written for the vendor's own host, also work with every other host.
import { unsupportedParameter } from "../../../lib/app-error.ts";
import { eachObject, omitMembers } from "../../../dialects/core/json-edit.ts";
import { isObject, isSet, list, object, objects, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import type { FilteredRequest, HostRequest } from "../../core/types.ts";
import { BETA_OF_TOOLS, BLOCKS_OF_BETAS, MEMBERS_OF_BETAS, type HostRules, type ToolRules } from "./host-rules.ts";

export const BETA_HEADER = "anthropic-beta";
const SCOPE = "cache_control.scope";
const OF_TOOLS = "tools[].";
const NONE: ReadonlySet<string> = new Set();

/** Returns the request for a host with these rules; `learned` are names of what it has refused before. */
export function filteredFor(
  rules: HostRules,
  asked: HostRequest,
  learned: ReadonlySet<string> = NONE,
): FilteredRequest {
  const dropped: string[] = [];
  const betas = listBetas(asked);
  const forwarded = forwardedBetas(betas, rules, learned, dropped);
  refuseLostBlocks(asked.body, rules);
  const members = membersToDrop(asked.body, rules, { betas, forwarded, learned });
  const slim = withoutMembers(asked.body, members, dropped);
  const body = withoutTools(slim, rules.tools, learned, dropped);
  const left = forwarded.filter((beta) => !isUnusedBeta(beta, members));
  for (const beta of forwarded) if (!left.includes(beta)) dropped.push(`${BETA_HEADER}:${beta}`);
  return { body: omitMembers(body, ["anthropic_beta"]), headers: withBetas(asked.headers, left), dropped };
}

/** Returns the betas of the header and of the body member in which some clients write them. */
export function listBetas({ headers, body }: HostRequest): string[] {
  const written = (headers[BETA_HEADER] ?? "").split(",").map((name) => name.trim());
  const inBody = list(body, "anthropic_beta").filter((name) => typeof name === "string");
  return [...new Set([...written, ...inBody])].filter((name) => name !== "");
}

/** Adds the betas that the tools of a converted request need. */
export function withNeededBetas(asked: HostRequest): HostRequest {
  const types = new Set(objects(asked.body, "tools").map(readToolType));
  const needed = Object.entries(BETA_OF_TOOLS).flatMap(([type, beta]) => (types.has(type) ? [beta] : []));
  if (needed.length === 0) return asked;
  return { ...asked, headers: withBetas(asked.headers, [...new Set([...listBetas(asked), ...needed])]) };
}

function withBetas(headers: HostRequest["headers"], betas: readonly string[]): HostRequest["headers"] {
  const { [BETA_HEADER]: before, ...rest } = headers;
  const after = betas.join(",");
  if (betas.length === 0) return before === undefined ? headers : rest;
  return after === before ? headers : { ...rest, [BETA_HEADER]: after };
}

function forwardedBetas(
  betas: readonly string[],
  { betas: rules }: HostRules,
  learned: ReadonlySet<string>,
  dropped: string[],
): string[] {
  const forwarded = new Set<string>();
  for (const beta of betas) {
    const name = rules.rename?.[beta] ?? beta;
    const isTaken = rules.unknown === "forward" ? rules.drop?.includes(name) !== true : rules.forward?.includes(name);
    if (isTaken === true && !learned.has(`${BETA_HEADER}:${name}`)) forwarded.add(name);
    else dropped.push(`${BETA_HEADER}:${beta}`);
  }
  return [...forwarded];
}

interface Betas {
  readonly betas: readonly string[];
  readonly forwarded: readonly string[];
  readonly learned: ReadonlySet<string>;
}

/** Returns the members that the host refuses, the members of betas that it refuses, and those whose beta is missing. */
function membersToDrop(body: JsonObject, rules: HostRules, betas: Betas): Set<string> {
  const { drop = [], keep } = rules.members;
  const members = new Set([...drop, ...[...betas.learned].filter((name) => !name.includes(":"))]);
  if (keep) for (const name of Object.keys(body)) if (!keep.includes(name) && !OWN.has(name)) members.add(name);
  for (const path of findWithoutBeta(rules, betas)) members.add(path);
  if (!rules.hasCacheScope) members.add(SCOPE);
  const toolsAreWhole = members.has(`${OF_TOOLS}defer_loading`) || !takesToolSearch(rules.tools);
  return toolsAreWhole ? members.add(`${OF_TOOLS}defer_loading`) : members;
}

/** Returns the members of betas that do not reach the host. */
function findWithoutBeta({ members }: HostRules, { betas, forwarded }: Betas): string[] {
  const needed = Object.entries(members.dropWithoutBeta ?? {}).filter(([beta]) => !forwarded.includes(beta));
  const refused = MEMBERS_OF_BETAS.filter(
    ([pattern]) => betas.some((beta) => pattern.test(beta)) && !forwarded.some((beta) => pattern.test(beta)),
  );
  return [...needed, ...refused].flatMap(([, paths]) => paths);
}

/** Members that the gateway itself writes. */
const OWN: ReadonlySet<string> = new Set(["anthropic_version", "anthropic_beta"]);

/** True if every member that the beta enables was removed. */
function isUnusedBeta(beta: string, members: ReadonlySet<string>): boolean {
  const paths = MEMBERS_OF_BETAS.filter(([pattern]) => pattern.test(beta)).flatMap(([, found]) => found);
  return paths.length > 0 && paths.every((path) => members.has(path));
}

function withoutMembers(body: JsonObject, members: ReadonlySet<string>, dropped: string[]): JsonObject {
  const names = [...members].filter((path) => !path.includes(".") && isSet(body[path]));
  const ofTools = [...members].filter((path) => path.startsWith(OF_TOOLS));
  const lost = ofTools.filter((path) =>
    objects(body, "tools").some((tool) => isSet(tool[path.slice(OF_TOOLS.length)])),
  );
  dropped.push(...names, ...lost);
  const bare = lost.map((path) => path.slice(OF_TOOLS.length));
  const slim = eachObject(omitMembers(body, names), "tools", (tool) => omitMembers(tool, bare));
  const unscoped = members.has(SCOPE) ? withoutScopes(slim) : slim;
  if (unscoped !== slim) dropped.push(SCOPE);
  return unscoped;
}

/** Removes the scopes of cache marks in the request, its system text, its tools and every block of its messages. */
function withoutScopes(body: JsonObject): JsonObject {
  const marked = eachObject(body, "messages", (message) => eachObject(message, "content", withoutScopesIn));
  return eachObject(eachObject(withoutScope(marked), "system", withoutScope), "tools", withoutScope);
}

/** Removes scopes in a block and inside tool results, which hold blocks of their own. */
function withoutScopesIn(block: JsonObject): JsonObject {
  return withoutScope(eachObject(block, "content", withoutScope));
}

function withoutScope(holder: JsonObject): JsonObject {
  const mark = holder["cache_control"];
  return isObject(mark) && mark["scope"] !== undefined
    ? { ...holder, cache_control: omitMembers(mark, ["scope"]) }
    : holder;
}

const SEARCHES_TOOLS = /^tool_search_tool_/;

function takesToolSearch(rules: ToolRules): boolean {
  return takesTool("tool_search_tool_bm25_20251119", rules);
}

function takesTool(type: string, { unknown, types = [], drop = [] }: ToolRules): boolean {
  if (drop.some((pattern) => fits(type, pattern))) return false;
  return unknown === "keep" || types.some((pattern) => fits(type, pattern));
}

function fits(type: string, pattern: string): boolean {
  return pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

function readToolType(tool: JsonObject): string {
  return text(tool, "type") ?? "custom";
}

/**
 * Returns the request with only the tools that the host runs or knows. Throws if the request would lose its purpose.
 */
function withoutTools(body: JsonObject, rules: ToolRules, learned: ReadonlySet<string>, dropped: string[]): JsonObject {
  const tools = objects(body, "tools");
  const isWhole = !tools.some((tool) => tool["defer_loading"] === true);
  const isRefused = (tool: JsonObject) =>
    !takesTool(readToolType(tool), rules) ||
    learned.has(`tools:${readToolType(tool)}`) ||
    (isWhole && SEARCHES_TOOLS.test(readToolType(tool)) && dropped.includes(`${OF_TOOLS}defer_loading`));
  const refused = tools.filter(isRefused);
  if (refused.length === 0) return body;
  const left = tools.filter((tool) => !refused.includes(tool));
  refuseLostTool(body, refused, left);
  dropped.push(...refused.map((tool) => `tools:${readToolType(tool)}`));
  return left.length === 0 ? omitMembers(body, ["tools", "tool_choice"]) : { ...body, tools: left };
}

/**
 * Throws if a lost tool is the only one or forced, because the request is about it. Next to others, it is one of many
 * that agents offer.
 */
function refuseLostTool(body: JsonObject, refused: readonly JsonObject[], left: readonly JsonObject[]): void {
  const choice = object(body, "tool_choice");
  const forced = refused.find((tool) => choice?.["type"] === "tool" && choice["name"] === tool["name"]);
  const alone = left.length === 0 ? refused.find((tool) => !SEARCHES_TOOLS.test(readToolType(tool))) : undefined;
  const lost = forced ?? (choice?.["type"] === "none" ? undefined : alone);
  if (lost !== undefined) throw unsupportedParameter(`tools.${readToolType(lost)}`, CURE);
}

const CURE = "The host of this channel does not take it: use a channel of Anthropic's own API, or leave it out.";

/** Throws if the host cannot read a block, because blocks of a conversation are never left out. */
function refuseLostBlocks(body: JsonObject, { betas }: HostRules): void {
  if (betas.unknown === "forward") return;
  const lost = BLOCKS_OF_BETAS.filter(([pattern]) => betas.forward?.some((beta) => pattern.test(beta)) !== true);
  const types = new Set(lost.flatMap(([, blocks]) => blocks));
  for (const message of objects(body, "messages"))
    for (const { type } of objects(message, "content"))
      if (typeof type === "string" && types.has(type)) throw unsupportedParameter(`messages.content.${type}`, CURE);
}
