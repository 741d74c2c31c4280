// Calls of tools that a vendor ran inside an answer. Between bridges they are `fw_runs` of a message or a delta, and
// every client protocol that has blocks or items for them shows them there.
import { anyText, isObject, list, object, objects, text } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";
import { parseArguments } from "./arguments.ts";
import {
  blocksOfCode,
  CODE_RESULT,
  codeOfBlocks,
  codeOfItem,
  isCodeCall,
  isCodeRun,
  itemOfCode,
  showsCode,
} from "./code-runs.ts";

/** Builds the run of a search with its findings, as far as the vendor reports them. */
function searchRun(queries: readonly string[], sources: readonly JsonObject[], failed?: string): JsonObject {
  return { kind: "web_search", queries: [...queries], sources: [...sources], ...(failed !== undefined && { failed }) };
}

/** Builds the run of an MCP call; `output` is the server's answer, `failed` its error. */
function mcpRun(call: JsonObject, output: string, failed?: string): JsonObject {
  return { kind: "mcp", ...call, output, ...(failed !== undefined && { failed }) };
}

export function listHostedRuns(holder: JsonObject | undefined): readonly JsonObject[] {
  return objects(holder, "fw_runs");
}

/** Reads the blocks of a message in order: a call becomes a run when its result arrives. */
export class MessageRuns {
  readonly #calls = new Map<string, JsonObject>();
  readonly #showsCode: boolean;

  constructor(context: BridgeContext) {
    this.#showsCode = showsCode(context);
  }

  /** Reads a block; `input` is that of the whole block of a call. */
  read(block: JsonObject, input: JsonObject = object(block, "input") ?? {}): JsonObject[] {
    const id = anyText(block, "id", "tool_use_id");
    switch (block["type"]) {
      case "server_tool_use":
      case "mcp_tool_use":
        this.#calls.set(id, { ...block, input });
        return [];
      case "web_search_tool_result":
        return [readSearchRun(this.#calls.get(id), block)];
      case "mcp_tool_result":
        return [readMcpRun(this.#calls.get(id), block)];
      default:
        return this.#showsCode && CODE_RESULT.test(anyText(block, "type")) ? [this.#code(id, block)] : [];
    }
  }

  /** Returns code that has no result at the end of the message. */
  rest(): JsonObject[] {
    const waiting = this.#showsCode ? [...this.#calls.values()].filter(isCodeCall) : [];
    this.#calls.clear();
    return waiting.map((call) => codeOfBlocks(call));
  }

  #code(id: string, result: JsonObject): JsonObject {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return codeOfBlocks(call, result);
  }
}

function readSearchRun(call: JsonObject | undefined, { content }: JsonObject): JsonObject {
  const query = anyText(object(call, "input"), "query");
  const queries = query === "" ? [] : [query];
  if (isObject(content)) return searchRun(queries, [], anyText(content, "error_code"));
  const found = Array.isArray(content) ? content.filter(isObject) : [];
  return searchRun(queries, found.flatMap(toSources));
}

function toSources(found: JsonObject): JsonObject[] {
  const url = text(found, "url");
  return url === undefined ? [] : [{ url, title: anyText(found, "title") }];
}

function readMcpRun(call: JsonObject | undefined, result: JsonObject): JsonObject {
  const { content } = result;
  const output =
    typeof content === "string"
      ? content
      : objects(result, "content")
          .map((part) => anyText(part, "text"))
          .join("\n");
  const named = {
    server: anyText(call, "server_name"),
    name: anyText(call, "name"),
    args: JSON.stringify(call?.["input"] ?? {}),
  };
  return result["is_error"] === true ? mcpRun(named, "", output) : mcpRun(named, output);
}

/** Returns the runs of a finished item of a response. */
export function readItemRuns(item: JsonObject, context: BridgeContext): JsonObject[] {
  if (item["type"] === "code_interpreter_call") return showsCode(context) ? [codeOfItem(item)] : [];
  if (item["type"] === "mcp_call") return [readMcpCall(item)];
  const action = object(item, "action");
  if (item["type"] !== "web_search_call" || (action !== undefined && action["type"] !== "search")) return [];
  const named = list(action, "queries").filter((query) => typeof query === "string");
  const query = anyText(action, "query");
  const queries = named.length > 0 || query === "" ? named : [query];
  const failed = item["status"] === "failed" ? "unavailable" : undefined;
  return [searchRun(queries, objects(action, "sources").flatMap(toSources), failed)];
}

function readMcpCall(item: JsonObject): JsonObject {
  const { server_label, name, arguments: args, error } = item;
  const call = { server: server_label ?? "", name: name ?? "", args: args ?? "{}" };
  const failed = typeof error === "string" ? error : isObject(error) ? JSON.stringify(error) : undefined;
  return mcpRun(call, anyText(item, "output"), failed);
}

/** Returns the runs in the grounding of a Gemini answer; `known` are queries that were reported before. */
export function readGroundingRuns(grounding: JsonObject | undefined, known: Set<string> = new Set()): JsonObject[] {
  const named = list(grounding, "webSearchQueries").filter((query) => typeof query === "string");
  const queries = named.filter((query) => !known.has(query));
  if (queries.length === 0) return [];
  queries.forEach((query) => known.add(query));
  const sources = objects(grounding, "groundingChunks").flatMap((chunk) => {
    const web = object(chunk, "web");
    const url = text(web, "uri");
    return url === undefined ? [] : [{ url, title: anyText(web, "title") }];
  });
  return [searchRun(queries, sources)];
}

/** Start of the ids of blocks that this gateway builds: Anthropic's own host cannot open their results. */
export const OWN_RUN = /^(?:srvtoolu|mcptoolu)_fw_/;

/** Returns the blocks of a run in a message: the call and its result. `at` distinguishes the runs of an answer. */
export function buildRunBlocks(run: JsonObject, at: number, { requestId }: BridgeContext): JsonObject[] {
  const failed = text(run, "failed");
  if (run["kind"] === "mcp") {
    const id = `mcptoolu_fw_${requestId}_${at}`;
    const { name, server } = run;
    const output = [{ type: "text", text: failed ?? anyText(run, "output") }];
    return [
      { type: "mcp_tool_use", id, name, server_name: server, input: parseArguments(text(run, "args")) },
      { type: "mcp_tool_result", tool_use_id: id, is_error: failed !== undefined, content: output },
    ];
  }
  const id = `srvtoolu_fw_${requestId}_${at}`;
  if (isCodeRun(run)) return blocksOfCode(run, id);
  const found = objects(run, "sources").map(({ url, title }) => ({
    type: "web_search_result",
    url,
    title,
    encrypted_content: "",
    page_age: null,
  }));
  return [
    { type: "server_tool_use", id, name: "web_search", input: { query: listQueries(run).join("; ") } },
    {
      type: "web_search_tool_result",
      tool_use_id: id,
      content: failed === undefined ? found : { type: "web_search_tool_result_error", error_code: "unavailable" },
    },
  ];
}

export function listQueries(run: JsonObject): string[] {
  return list(run, "queries").filter((query) => typeof query === "string");
}

/** Returns the item of a run in a response. */
export function buildRunItem(id: string, run: JsonObject): JsonObject {
  if (isCodeRun(run)) return itemOfCode(id, run);
  const failed = text(run, "failed");
  const status = failed === undefined ? "completed" : "failed";
  if (run["kind"] === "mcp") {
    const { server: server_label, name, args } = run;
    const output = failed === undefined ? run["output"] : null;
    return { type: "mcp_call", id, server_label, name, arguments: args, output, error: failed ?? null, status };
  }
  const queries = listQueries(run);
  const sources = objects(run, "sources").map(({ url }) => ({ type: "url", url }));
  return { type: "web_search_call", id, status, action: { type: "search", query: queries[0] ?? "", queries, sources } };
}

/** Returns the start of an item's id. */
export function getRunPrefix(run: JsonObject): string {
  if (isCodeRun(run)) return "ci";
  return run["kind"] === "mcp" ? "mcp" : "ws";
}

/** Returns the events of a run between the beginning and the end of its item in a stream, with their members. */
export function eventsOfRun(run: JsonObject, item: JsonObject): (readonly [string, JsonObject])[] {
  const type = `response.${anyText(item, "type")}`;
  if (isCodeRun(run)) {
    const { code } = item;
    const written: (readonly [string, JsonObject])[] = [
      [`${type}.in_progress`, {}],
      [`${type}_code.delta`, { delta: code }],
      [`${type}_code.done`, { code }],
      [`${type}.interpreting`, {}],
    ];
    return item["status"] === "incomplete" ? written : [...written, [`${type}.completed`, {}]];
  }
  if (run["kind"] !== "mcp") return ["in_progress", "searching", "completed"].map((step) => [`${type}.${step}`, {}]);
  const done = item["status"] === "failed" ? "failed" : "completed";
  return ["in_progress", done].map((step) => [`${type}.${step}`, {}]);
}
