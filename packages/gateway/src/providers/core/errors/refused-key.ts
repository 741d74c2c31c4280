import { UpstreamRefusal } from "../types.ts";
import { upstreamError } from "./upstream-error.ts";

/** A key of the wrong form: known before any call, so another channel may serve, and no one is to blame. */
export function refusedKey(message: string): UpstreamRefusal {
  return new UpstreamRefusal(
    upstreamError({ class: "bad_key", status: 400, message, code: "invalid_auth", param: "", disable: false }),
  );
}
