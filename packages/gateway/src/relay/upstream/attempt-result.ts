import type { Failure } from "./failure.ts";

/** Why an answer that reached the client ended. */
export type FinishReason =
  | "stop"
  | "client_abort"
  | "upstream_cut"
  | "idle_timeout"
  | "server_shutdown"
  | "quota_exhausted"
  | "guardrail"
  | "upstream_error"
  /** A fault of this program. */
  | "internal_error";

/** The result of one attempt. After `failed` and `disconnected`, the client has received nothing. */
export type AttemptResult =
  | { readonly kind: "delivered"; readonly reason: FinishReason }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "disconnected" };
