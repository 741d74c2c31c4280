export type LimitScope = "token" | "user" | "group" | "model" | "channel" | "key";
export type LimitKind = "requests" | "tokens" | "concurrency";

/** What one request asks of one limit. */
export interface Claim {
  readonly scope: LimitScope;
  /** Id or name of whom the limit is for. */
  readonly subject: string;
  readonly kind: LimitKind;
  /** Per minute, or at once. */
  readonly limit: number;
  /** 1, or an upper estimate of the tokens; at most `limit`, so that a free minute carries any request. */
  readonly amount: number;
}

/** What a limit says: after the claim was taken, or at its refusal without it. */
export interface ClaimState {
  readonly claim: Claim;
  readonly used: number;
  /** Milliseconds until some of it is free again; for `concurrency` a guess. */
  readonly resetMs: number;
}

export type ClaimAnswer =
  | { readonly taken: true; readonly states: readonly ClaimState[]; readonly at: number }
  | { readonly taken: false; readonly state: ClaimState };

/**
 * Limits that one request takes all at once or not at all. Requests and tokens are counted by the second: a minute and
 * the second that is running never hold more than the limit. Concurrency is counted by leases, which end by themselves
 * when their process dies.
 * `claims-memory.ts` for one process, `claims-redis.ts` for many; one contract suite for both.
 */
export interface Claims {
  take(requestId: string, claims: readonly Claim[]): Promise<ClaimAnswer>;
  /** Puts the tokens that were really used in the place of what `take` estimated at `takenAt`. Never rejects. */
  correct(claims: readonly Claim[], takenAt: number, tokens: number): Promise<void>;
  /** Moves the leases; called every few seconds. Never rejects. */
  renew(requestId: string, claims: readonly Claim[]): Promise<void>;
  /** Gives the places of a request that ended free. Never rejects. */
  release(requestId: string, claims: readonly Claim[]): Promise<void>;
}

export const WINDOW_SECONDS = 60;
export const CLAIM_LEASE_MS = 30_000;
/** When a place may become free is not known; callers look again after this time. */
export const CONCURRENCY_RETRY_MS = 1_000;

export function claimName({ kind, scope, subject }: Claim): string {
  return `${kind}:${scope}:${encodeURIComponent(subject)}`;
}

export function isConcurrency({ kind }: Claim): boolean {
  return kind === "concurrency";
}

export function isTokens({ kind }: Claim): boolean {
  return kind === "tokens";
}
