import type { RequestSpec, Dialect } from "../../dialects/core/types.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { CallProgress } from "../request/call-progress.ts";
import type { CallTags } from "../request/request.ts";

/** What an admission reports of a request. */
type AdmissionProgress = Pick<CallProgress, "counted" | "leftQueue" | "reachedLimit" | "exhausted">;

/** Any request that uses an upstream. */
export interface AdmissionRequest {
  readonly id: string;
  readonly caller: Caller;
  readonly spec: Pick<RequestSpec, "model" | "promptEstimate" | "outputCap">;
  /** The caller's protocol; some protocols have their own headers for limits. */
  readonly dialect?: Pick<Dialect, "errors">;
  /** What the call is for; undefined if it names nothing. */
  readonly tags?: CallTags | undefined;
  readonly progress: AdmissionProgress;
}

/** The response of a request: it may close while the request waits, and carries the headers of its limits. */
export interface ClientConnection {
  readonly closed: boolean;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}
