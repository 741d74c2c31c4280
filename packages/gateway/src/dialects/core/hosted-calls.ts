import { count, isObject, list, object, objects, text } from "./read.ts";
import type { DialectId, JsonObject, RequestSpec } from "./types.ts";

/** Counts calls of tools that a vendor ran, by tool, in whole answers and in the events of streams. */
export class HostedCalls {
  readonly #ids = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();
  readonly #paid: readonly string[];

  /** @param paid containers that the request names: each was charged when it was created */
  constructor(paid: readonly string[] = []) {
    this.#paid = paid;
  }

  see(json: JsonObject): void {
    this.#seeResponse(json);
    this.#seeMessage(json);
    for (const candidate of objects(json, "candidates")) this.#seeGrounding(object(candidate, "groundingMetadata"));
  }

  /** Calls by tool; undefined if there were none. */
  get calls(): Readonly<Record<string, number>> | undefined {
    const calls: Record<string, number> = Object.fromEntries(this.#counts);
    for (const [tool, ids] of this.#ids) calls[tool] = Math.max(calls[tool] ?? 0, ids.size);
    return Object.keys(calls).length === 0 ? undefined : calls;
  }

  #seeResponse(json: JsonObject): void {
    if (text(json, "type") === "response.output_item.done") this.#seeItem(json["item"]);
    for (const item of list(object(json, "response") ?? json, "output")) this.#seeItem(item);
  }

  #seeItem(item: unknown): void {
    if (!isObject(item)) return;
    const tool = /^(.+)_call$/.exec(text(item, "type") ?? "")?.[1];
    if (tool === undefined || OWN_CALLS.has(tool)) return;
    const action = text(object(item, "action"), "type");
    // Opening a page that a search found costs nothing.
    if (tool === "web_search" && action !== undefined && action !== "search") return;
    const id = text(item, "container_id") ?? text(item, "id") ?? "";
    if (!this.#paid.includes(id)) this.#add(tool, id);
  }

  #seeMessage(json: JsonObject): void {
    const used = object(object(json, "usage") ?? object(object(json, "message"), "usage"), "server_tool_use");
    for (const member in used) {
      const tool = /^(.+)_requests$/.exec(member)?.[1];
      const calls = count(used, member) ?? 0;
      if (tool !== undefined && calls > 0) this.#counts.set(tool, Math.max(this.#counts.get(tool) ?? 0, calls));
    }
    const block = object(json, "content_block");
    for (const part of block ? [block] : objects(json, "content")) if (runsCode(part)) this.#add("code_execution", "");
  }

  #seeGrounding(grounding: JsonObject | undefined): void {
    for (const query of list(grounding, "webSearchQueries"))
      if (typeof query === "string") this.#add("google_search", query);
    if (objects(grounding, "groundingChunks").some((chunk) => isObject(chunk["maps"]))) this.#add("google_maps", "");
  }

  #add(tool: string, id: string): void {
    const ids = this.#ids.get(tool) ?? new Set();
    this.#ids.set(tool, ids.add(id));
  }
}

/** Call items that the client answers, or that cost only tokens. */
const OWN_CALLS = new Set(["function", "custom_tool", "local_shell", "apply_patch", "computer", "mcp", "tool_search"]);

/** True for a part that runs code; the container is charged, not what runs in it. */
function runsCode(part: JsonObject): boolean {
  return text(part, "type") === "server_tool_use" && /code_execution/.test(text(part, "name") ?? "");
}

/**
 * Returns the calls to charge if an answer reports none: chat answers do not say what was called, so one call of each
 * tool is charged, unless a conversion left the tools out.
 */
export function unreportedCalls(
  { hostedTools = [] }: Pick<RequestSpec, "hostedTools">,
  upstream: DialectId,
  isConverted: boolean,
): Readonly<Record<string, number>> | undefined {
  if (upstream !== "openai-chat" || isConverted || hostedTools.length === 0) return undefined;
  return Object.fromEntries(hostedTools.map((tool) => [tool, 1]));
}
