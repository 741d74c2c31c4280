import { exactJson } from "../../dialects/core/request-spec.ts";
import { referenceIn, parseResponseId } from "../../dialects/bridges/responses-to-chat/own-ids.ts";
import { omitMembers } from "../../dialects/core/json-edit.ts";
import { isObject, objects, text } from "../../dialects/core/read.ts";
import type { Body, JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { jsonBody } from "../body/read-body.ts";
import type { RelayRequest } from "../request/request.ts";
import { inputItems, isUnreadable, plainItem } from "./items.ts";
import type { StoredResponse, ResponseStore } from "./response-store.ts";

export interface HistoryDeps {
  readonly responseStore: Pick<ResponseStore, "find" | "output">;
  readonly bodyLimits: { readonly maxDecodedBytes: number };
}

/** Most responses that one request may continue. */
const MAX_RESPONSES = 1_000;
const AT_ONCE = 16;

/**
 * Returns the request with the conversation that it continues and the items that it names by id; the same object if it
 * has neither. Throws `response_not_found`, `request_too_large` and `responses_unavailable`.
 */
export async function withFullHistory(
  request: RelayRequest,
  previous: StoredResponse | undefined,
  deps: HistoryDeps,
): Promise<RelayRequest> {
  const body = exactJson(request.body);
  if (!previous && !objects(body, "input").some((item) => referenceIn(item) !== undefined)) return request;
  const earlier = previous ? await conversationUntil(previous, request, deps) : [];
  const items = [...earlier, ...inputItems(body)];
  const input = await withNamedItems(items, request, deps);
  if (!previous && input === items) return request;
  const own = previous ? omitMembers(body, ["previous_response_id"]) : body;
  const bytes = Buffer.from(JSON.stringify({ ...own, input }));
  checkSize(bytes.length, deps);
  const full = jsonBody(bytes);
  const { promptEstimate } = request.dialect.inspect(full, request.spec.operation, undefined);
  const asked = { body: request.body, previous: previous && text(body, "previous_response_id") };
  request.body.forget?.();
  return { ...request, spec: { ...request.spec, promptEstimate }, body: full, asked };
}

/** Removes members that only conversions read; for an upstream of the client's own protocol. */
export function forVendor(body: Body): Body {
  const json = exactJson(body);
  const input = inputItems(json).filter((item) => !isUnreadable(item));
  return jsonBody(Buffer.from(JSON.stringify({ ...json, input })));
}

/** Returns all items before the request, the first response first. */
async function conversationUntil(last: StoredResponse, { caller }: RelayRequest, deps: HistoryDeps) {
  const turns: JsonValue[][] = [];
  let bytes = 0;
  for (let turn = last; ;) {
    turns.push([...turn.input, ...turn.output.map((item) => (isObject(item) ? plainItem(item) : item))]);
    bytes += turn.bytes;
    checkSize(bytes, deps);
    if (turn.previous === undefined) return turns.reverse().flat();
    if (turns.length >= MAX_RESPONSES) throw tooMany("previous_response_id");
    const before = await deps.responseStore.find(turn.previous, caller.userId);
    if (!before) throw new AppError("response_not_found", { values: { id: turn.previous } });
    turn = before;
  }
}

/**
 * Replaces items that are named by id. Unknown names stay, because the upstream may know them; returns the same list if
 * none is known.
 */
async function withNamedItems(items: JsonValue[], { caller }: RelayRequest, deps: HistoryDeps): Promise<JsonValue[]> {
  const ids = [...responsesNamed(items.filter(isObject))];
  if (ids.length > MAX_RESPONSES) throw tooMany("input");
  const found = new Map<string, JsonObject>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const part = ids.slice(at, at + AT_ONCE).map((id) => deps.responseStore.output(id, caller.userId));
    for (const response of await Promise.all(part))
      for (const item of response?.output ?? [])
        if (isObject(item) && typeof item["id"] === "string") found.set(item["id"], plainItem(item));
  }
  if (found.size === 0) return items;
  return items.map((item) => (isObject(item) && found.get(referenceIn(item) ?? "")) || item);
}

function responsesNamed(items: readonly JsonObject[]): Set<string> {
  return new Set(items.flatMap((item) => parseResponseId(referenceIn(item) ?? "") ?? []));
}

function checkSize(bytes: number, { bodyLimits }: HistoryDeps): void {
  const limit = bodyLimits.maxDecodedBytes;
  if (bytes <= limit) return;
  throw new AppError("request_too_large", { message: `The whole conversation exceeds ${limit} bytes.` });
}

function tooMany(param: string): AppError {
  return invalidRequest(param, `A request may continue up to ${MAX_RESPONSES} responses; send the items whole.`);
}
