import type { ServerResponse } from "node:http";
import { isObject, list, text } from "../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { invalidRequest } from "../../lib/app-error.ts";
import type { StoredResponse, ResponseStore } from "./response-store.ts";

/** A call about one stored response. */
export interface StoredCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly id: string;
  /** The path after the id. */
  readonly rest: "" | "/cancel" | "/input_items";
}

export interface StoredResponseCall extends Pick<StoredCall, "id" | "rest"> {
  readonly method: string;
  readonly userId: number;
  readonly query: URLSearchParams;
}

const USUAL_PAGE = 20;
const LARGEST_PAGE = 100;

/** Answers a call about a response that this gateway stores. */
export async function answerStored(
  call: StoredResponseCall,
  found: StoredResponse,
  responseStore: Pick<ResponseStore, "forget">,
): Promise<JsonObject> {
  const { method, id, rest, query, userId } = call;
  if (rest === "/cancel") throw invalidRequest("id", "Only responses in the background can be cancelled.");
  if (rest === "/input_items") return buildPage(listItems(found, id), query);
  if (method === "DELETE") {
    await responseStore.forget(id, userId);
    return { id, object: "response", deleted: true };
  }
  if (query.get("stream") === "true")
    throw invalidRequest("stream", "Only responses in the background can be streamed once more.");
  return found.response();
}

/** Sends status 200 with a JSON body. */
export function sendJson(response: ServerResponse, value: JsonObject): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": body.length,
    "cache-control": "no-cache",
  });
  response.end(body);
}

/** Lists the items with ids and content parts, which clients require. */
function listItems({ input }: StoredResponse, id: string): JsonObject[] {
  return input.filter(isObject).map((item, at) => {
    const type = text(item, "type") ?? "message";
    const named = { ...item, type, id: text(item, "id") ?? `${id.replace("resp_", "item_")}_${at}` };
    return type === "message" ? { ...named, content: listParts(item) } : named;
  });
}

function listParts(item: JsonObject): JsonValue[] {
  const written = text(item, "content");
  if (written === undefined) return [...list(item, "content")];
  return [{ type: item["role"] === "assistant" ? "output_text" : "input_text", text: written }];
}

/** Returns the last items first, unless the query asks otherwise. */
function buildPage(items: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const ordered = query.get("order") === "asc" ? [...items] : items.toReversed();
  const after = query.get("after");
  const start = after === null ? 0 : ordered.findIndex((item) => item["id"] === after) + 1;
  const size = Number(query.get("limit") ?? USUAL_PAGE);
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE)
    throw invalidRequest("limit", `limit must be between 1 and ${LARGEST_PAGE}.`);
  const data = ordered.slice(start, start + size);
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: start + size < ordered.length,
  };
}
