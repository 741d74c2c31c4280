import { UpstreamRefusal } from "../failed-answer.ts";
import { upstreamError } from "./upstream-error.ts";

/**
 * Builds the refusal of a key of the wrong form. It is known before any call, so another channel may serve the request.
 */
export function refusedKey(message: string): UpstreamRefusal {
  return new UpstreamRefusal(
    upstreamError({ class: "bad_key", status: 400, message, code: "invalid_auth", param: "", disable: false }),
  );
}
