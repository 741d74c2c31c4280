import { unsupportedParameter, type AppError } from "../../../../lib/app-error.ts";
import { object, text } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";

/**
 * Names of client protocols, for the advice in refusals: channels of the same protocol convert and refuse nothing here.
 */
const TAKERS: Readonly<Record<string, string>> = {
  "openai-chat": "OpenAI's chat completions",
  "openai-responses": "OpenAI's Responses API",
  "anthropic-messages": "Anthropic's Messages API",
  "gemini-generate": "the Gemini API",
};

/** Builds the refusal of a part that the model would miss; the message says which channels take it. */
export function unsupportedPart(name: string, { spec }: Pick<BridgeContext, "spec">): AppError {
  const taker = TAKERS[spec.dialect];
  return unsupportedParameter(name, taker && `Use a model of a channel that speaks ${taker}, or leave it out.`);
}

/** Returns the kind of a part as its client wrote it. */
export function readPartKind(part: JsonObject): string {
  return text(part, "type") ?? Object.keys(part)[0] ?? "unknown";
}

/** Refuses `logit_bias`, because token numbers of one vendor's vocabulary mean nothing in another's. */
export function refuseBias(body: JsonObject): void {
  const bias = object(body, "logit_bias");
  if (bias !== undefined && Object.keys(bias).length > 0) throw unsupportedParameter("logit_bias");
}

/** Advice for the client. */
export const FILE_INSIDE = "Send the file inside of the request instead.";
export const ONE_BY_ONE = "Ask once for each answer instead.";
