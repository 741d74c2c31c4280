// Tools that the vendor runs. A client's bridge passes them as `fw_hosted` of a chat request. Tools that the upstream
// cannot run are refused, or reported as dropped if agents offer them next to functions in every request (ADR 0043).
import { unsupportedParameter } from "../../../../lib/app-error.ts";
import { omitMembers } from "../../../core/json-edit.ts";
import { isObject, isSet, list, object, objects, text } from "../../../core/read.ts";
import type { Bridge, BridgeContext, HostedKind } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";
import { readPartKind, unsupportedPart } from "../answer/refused.ts";

/** Builds a hosted tool from its kind, the client's name for it, and options. */
export function hostedTool(kind: HostedKind | "other", name: string, options: JsonObject = {}): JsonObject {
  return { ...options, kind, name };
}

/** Returns the members of a chat request that carry hosted tools; `chosen` is the one that must be called. */
export function hostedMembers(hosted: readonly JsonObject[], chosen: JsonObject | undefined): JsonObject {
  if (hosted.length === 0) return {};
  return { fw_hosted: [...hosted], ...(chosen && { fw_hosted_choice: chosen["kind"] }) };
}

const NO_OPTIONS = ["kind", "name", "called", "type", "container"];

/** Reports the options of a hosted tool that the upstream's own tool does not have. */
export function noteOptions(tool: JsonObject, carried: readonly string[], context: BridgeContext): void {
  for (const option of Object.keys(tool))
    if (isSet(tool[option]) && !NO_OPTIONS.includes(option) && !carried.includes(option))
      context.dropped(`${toMemberPath(text(tool, "name") ?? "unknown")}.${option}`);
}

/** Matches tools that only help a model to find tools that it has anyway. */
const FINDS_TOOLS = /^(?:tool_search|namespace)/;

/** Wraps a bridge for requests with hosted tools, so that it gets only those that it converts. */
export function settlingHosted(bridge: Bridge): Bridge {
  return {
    ...bridge,
    begin(context) {
      const inner = bridge.begin(context);
      return {
        request: (body) => inner.request(settleHosted(fromChatClient(body, bridge), bridge.hosted, context)),
        response: (body) => inner.response(body),
        stream: () => inner.stream(),
      };
    },
  };
}

/** Reads the hosted tools of chat clients, which are among their functions; the search is a member of the request. */
function fromChatClient(body: JsonObject, { hosted = [] }: Bridge): JsonObject {
  const isOwn = (tool: JsonObject) => object(tool, "function") !== undefined || object(tool, "custom") !== undefined;
  const others = objects(body, "tools").filter((tool) => !isOwn(tool));
  const search = object(body, "web_search_options");
  const readsSearch = hosted.includes("web_search_options");
  if (others.length === 0 && (search === undefined || readsSearch)) return body;
  const { web_search_options, ...rest } = body;
  const moved = others.map((tool) => hostedTool("other", readPartKind(tool)));
  return {
    ...rest,
    ...(readsSearch && search !== undefined && { web_search_options }),
    ...(others.length > 0 && { tools: list(body, "tools").filter((tool) => isObject(tool) && isOwn(tool)) }),
    fw_hosted: [
      ...objects(body, "fw_hosted"),
      ...moved,
      ...(search === undefined || readsSearch
        ? []
        : [hostedTool("web_search", "web_search_options", toSearchOptions(search))]),
    ],
  };
}

function toSearchOptions(search: JsonObject): JsonObject {
  const location = object(object(search, "user_location"), "approximate");
  return {
    ...(location && { user_location: location }),
    ...(isSet(search["search_context_size"]) && { search_context_size: search["search_context_size"] }),
  };
}

/** Returns the request with only the hosted tools that the upstream runs. */
export function settleHosted(body: JsonObject, known: Bridge["hosted"] = [], context: BridgeContext): JsonObject {
  const offered = objects(body, "fw_hosted");
  if (offered.length === 0) return body;
  const isKnown = ({ kind }: JsonObject) => known.some((one) => one === kind);
  for (const tool of offered) {
    if (isKnown(tool)) continue;
    const name = text(tool, "name") ?? "unknown";
    if (!isSpare(tool, name, body))
      throw isForced(tool, body) ? unsupportedParameter("tool_choice") : unsupportedPart(toMemberPath(name), context);
    context.dropped(toMemberPath(name));
  }
  const { fw_hosted: _offered, fw_hosted_choice: _choice, ...rest } = body;
  const mapped = offered.filter(isKnown);
  if (mapped.length > 0) return { ...body, fw_hosted: mapped };
  return holdsFunctions(body) ? rest : omitMembers(rest, ["tool_choice", "parallel_tool_calls"]);
}

function holdsFunctions(body: JsonObject): boolean {
  return list(body, "tools").length > 0 || list(body, "functions").length > 0;
}

function isForced(tool: JsonObject, body: JsonObject): boolean {
  return body["fw_hosted_choice"] === tool["kind"] || body["tool_choice"] === "required";
}

/** Members of a request that mean tools. */
const MEMBERS = new Set(["web_search_options", "mcp_servers"]);

function toMemberPath(name: string): string {
  return MEMBERS.has(name) ? name : `tools.${name}`;
}

/** Names of tools that were set up for this very request: files, a container, a server, a screen, addresses. */
const SET_UP =
  /^(?:file_?search|code_(?:interpreter|execution)|codeExecution|mcp|computer|web_fetch|url_?context|retrieval)/i;

/**
 * True if the model would miss the tool, so that it is refused: it was set up for this request. Next to functions, a
 * search and the tools that coding agents offer in every request are left out and reported instead.
 */
export function isMissed(tool: JsonObject): boolean {
  return SET_UP.test(text(tool, "name") ?? "");
}

/** True if the answer means the same without the tool. */
function isSpare(tool: JsonObject, name: string, body: JsonObject): boolean {
  if (FINDS_TOOLS.test(name) || body["tool_choice"] === "none") return true;
  if (MEMBERS.has(name) || body["fw_hosted_choice"] === tool["kind"]) return false;
  return holdsFunctions(body) && !isMissed(tool);
}
