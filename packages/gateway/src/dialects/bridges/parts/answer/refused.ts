import { unsupportedParameter, type AppError } from "../../../../lib/app-error.ts";
import { object, text } from "../../../core/read.ts";
import type { BridgeContext, JsonObject } from "../../../core/types.ts";

/** Where a request is not converted, nothing of it is refused here. */
const TAKERS: Readonly<Record<string, string>> = {
  "openai-chat": "OpenAI's chat completions",
  "openai-responses": "OpenAI's Responses API",
  "anthropic-messages": "Anthropic's Messages API",
  "gemini-generate": "the Gemini API",
};

/** The refusal of a part that the model would miss; it says who takes it. */
export function unsupportedPart(name: string, { spec }: Pick<BridgeContext, "spec">): AppError {
  const taker = TAKERS[spec.dialect];
  return unsupportedParameter(name, taker && `Use a model of a channel that speaks ${taker}, or leave it out.`);
}

/** The kind of a part as its client wrote it. */
export function readPartKind(part: JsonObject): string {
  return text(part, "type") ?? Object.keys(part)[0] ?? "unknown";
}

/** Tokens of one vendor's vocabulary mean nothing to another's. */
export function refuseBias(body: JsonObject): void {
  const bias = object(body, "logit_bias");
  if (bias !== undefined && Object.keys(bias).length > 0) throw unsupportedParameter("logit_bias");
}

/** Advice for the client. */
export const FILE_INSIDE = "Send the file inside of the request instead.";
export const ONE_BY_ONE = "Ask once for each answer instead.";
