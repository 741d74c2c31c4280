import { wantsBackground } from "../../dialects/core/request-spec.ts";
import { object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError, unsupportedParameter } from "../../lib/app-error.ts";
import type { RelayRequest } from "../request/request.ts";
import { withFullHistory, type HistoryDeps } from "./history-expansion.ts";
import { notFound, locateResponse, type ResponseLocation, type ResponseLocatorDeps } from "./response-locator.ts";

/** What finds the answer that a request continues. */
export type BindDeps = ResponseLocatorDeps & HistoryDeps;

/**
 * Binds a request that continues a response of an upstream to the account that stores it; a request that continues a
 * response stored here is sent in full. Undefined if requests of its protocol continue nothing. Rejects with
 * `response_not_found` if the response is unknown or another user's.
 */
export function bindToAccount(request: RelayRequest, deps: BindDeps): Promise<RelayRequest> | undefined {
  switch (request.spec.dialect) {
    case "openai-responses":
    case "openai-compaction":
    case "openai-input-tokens":
      return bindResponse(request, request.body.json(), deps);
    case "anthropic-messages":
      return bindThread(request, request.body.json(), deps);
    default:
      return undefined;
  }
}

const WHOLE_CONVERSATION = "send the whole conversation as input instead.";
const BACKGROUND = "Leave it out, and stream an answer that takes long.";

async function bindResponse(received: RelayRequest, body: JsonObject, deps: BindDeps): Promise<RelayRequest> {
  const { spec, caller } = received;
  // The usage of a background answer is known only long after the answer was delivered and charged.
  if (wantsBackground(body)) throw unsupportedParameter("background", BACKGROUND);
  const location = await locatePrevious(body, caller.userId, deps);
  const request = await withFullHistory(received, location?.stored, deps);
  const storesAnswer = spec.dialect === "openai-responses" && body["store"] !== false;
  return location?.owner ? { ...request, storesAnswer, pinnedAccount: location.owner } : { ...request, storesAnswer };
}

/** Returns where the response that the request continues is stored; undefined if it continues none. */
async function locatePrevious(
  body: JsonObject,
  userId: number,
  deps: ResponseLocatorDeps,
): Promise<ResponseLocation | undefined> {
  const previous = text(body, "previous_response_id");
  const id = previous ?? text(object(body, "conversation"), "id") ?? text(body, "conversation");
  if (id === undefined) return undefined;
  const param = previous === undefined ? "conversation" : "previous_response_id";
  return locateResponse(id, userId, deps).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "response_not_found") throw error;
    const message = `${param} ${id.slice(0, 100)} is unknown or no longer stored: ${WHOLE_CONVERSATION}`;
    throw new AppError("response_not_found", { param, message });
  });
}

async function bindThread(request: RelayRequest, body: JsonObject, deps: BindDeps): Promise<RelayRequest> {
  const storesAnswer = body["thread"] !== undefined && body["thread"] !== null;
  const id = text(body, "previous_message_id");
  if (id === undefined) return storesAnswer ? { ...request, storesAnswer } : request;
  const { owner } = await locateResponse(id, request.caller.userId, deps);
  if (!owner) throw notFound(id);
  return { ...request, storesAnswer: true, pinnedAccount: owner };
}
