import { object, text } from "../../dialects/read.ts";
import type { JsonObject } from "../../dialects/types.ts";
import { unsupportedParameter } from "../../lib/app-error.ts";
import type { RelayRequest } from "../types.ts";
import { inFull, type InFullDeps } from "./in-full.ts";
import { notFound, whereIs, type Whereabouts } from "./where-is.ts";

type BindDeps = Whereabouts & InFullDeps;

/**
 * A request that continues what an upstream keeps goes to the account that keeps it; one that continues what is kept
 * here says it all. Throws `response_not_found` for what is unknown or somebody else's.
 */
export async function bindToAccount(request: RelayRequest, deps: BindDeps): Promise<RelayRequest> {
  switch (request.ask.dialect) {
    case "openai-responses":
      return bindResponse(request, request.body.json(), deps);
    case "anthropic-messages":
      return bindThread(request, request.body.json(), deps);
    default:
      return request;
  }
}

async function bindResponse(received: RelayRequest, body: JsonObject, deps: BindDeps): Promise<RelayRequest> {
  const { ask, caller } = received;
  if (ask.operation !== "responses") return received;
  // Its usage is known long after its answer was delivered and charged.
  if (body["background"] === true) throw unsupportedParameter("background");
  const id =
    text(body, "previous_response_id") ?? text(object(body, "conversation"), "id") ?? text(body, "conversation");
  const place = id === undefined ? undefined : await whereIs(id, caller.userId, deps);
  const request = await inFull(received, place?.kept, deps);
  const isKept = body["store"] !== false;
  return place?.owner ? { ...request, isKept, keeper: place.owner } : { ...request, isKept };
}

async function bindThread(request: RelayRequest, body: JsonObject, deps: BindDeps): Promise<RelayRequest> {
  const isKept = body["thread"] !== undefined && body["thread"] !== null;
  const id = text(body, "previous_message_id");
  if (id === undefined) return isKept ? { ...request, isKept } : request;
  const { owner } = await whereIs(id, request.caller.userId, deps);
  if (!owner) throw notFound(id);
  return { ...request, isKept: true, keeper: owner };
}
