import { unsupportedParameter } from "../../../../lib/app-error.ts";
import { object } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/** Tokens of one vendor's vocabulary mean nothing to another's. */
export function refuseBias(body: JsonObject): void {
  const bias = object(body, "logit_bias");
  if (bias !== undefined && Object.keys(bias).length > 0) throw unsupportedParameter("logit_bias");
}

/** Advice for the client. */
export const FILE_INSIDE = "Send the file inside of the request instead.";
export const ONE_BY_ONE = "Ask once for each answer instead.";
