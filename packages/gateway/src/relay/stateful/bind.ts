import { text } from "../../dialects/read.ts";
import type { JsonObject } from "../../dialects/types.ts";
import { AppError, unsupportedParameter } from "../../lib/app-error.ts";
import type { RelayRequest } from "../types.ts";
import type { ResponseOwners } from "./owners.ts";

/**
 * A request that continues what an upstream keeps goes to the account that keeps it. Throws `response_not_found` for
 * what is unknown or somebody else's.
 */
export async function bindToAccount(request: RelayRequest, owners: ResponseOwners): Promise<RelayRequest> {
  switch (request.ask.dialect) {
    case "openai-responses":
      return bindResponse(request, request.body.json(), owners);
    case "anthropic-messages":
      return bindThread(request, request.body.json(), owners);
    default:
      return request;
  }
}

async function bindResponse(request: RelayRequest, body: JsonObject, owners: ResponseOwners): Promise<RelayRequest> {
  if (request.ask.operation !== "responses") return request;
  // Its usage is known long after its answer was delivered and charged.
  if (body["background"] === true) throw unsupportedParameter("background");
  const conversation = body["conversation"];
  const isObject = typeof conversation === "object" && conversation !== null && !Array.isArray(conversation);
  const id = text(body, "previous_response_id") ?? (isObject ? text(conversation, "id") : text(body, "conversation"));
  const isKept = body["store"] !== false;
  return id === undefined
    ? { ...request, isKept }
    : { ...request, isKept, keeper: await keeperOf(id, request, owners) };
}

async function bindThread(request: RelayRequest, body: JsonObject, owners: ResponseOwners): Promise<RelayRequest> {
  const isKept = body["thread"] !== undefined && body["thread"] !== null;
  const id = text(body, "previous_message_id");
  if (id !== undefined) return { ...request, isKept: true, keeper: await keeperOf(id, request, owners) };
  return isKept ? { ...request, isKept } : request;
}

async function keeperOf(id: string, { caller }: RelayRequest, owners: ResponseOwners) {
  const owner = await owners.find(id, caller.userId);
  if (!owner) throw new AppError("response_not_found", { values: { id: id.slice(0, 100) } });
  return owner;
}
