import type { BudgetTerms } from "../../billing/budgets/budget.ts";
import type { RequestSpec, Dialect } from "../../dialects/core/types.ts";
import type { Caller } from "../../identity/authentication/caller.ts";

/** Any request that uses an upstream. */
export interface AdmissionRequest {
  readonly id: string;
  readonly caller: Caller;
  readonly spec: Pick<RequestSpec, "model" | "promptEstimate" | "outputCap">;
  /** The caller's protocol; some protocols have their own headers for limits. */
  readonly dialect?: Pick<Dialect, "errors">;
  /** Milliseconds that it waited for a channel; set when it leaves the queue. */
  queueMs?: number;
  /** Set once the limits of the caller have been checked. */
  isCounted?: boolean;
  /** The scope of the limit that refused it last; `channel` if every channel was full. */
  fullLimit?: string | undefined;
  /** The last budget that refused it, for the log. */
  usedUp?: BudgetTerms | "balance";
}

/** The response of a request: it may close while the request waits, and carries the headers of its limits. */
export interface ClientConnection {
  readonly closed: boolean;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}
