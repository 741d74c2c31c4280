export type LimitScope = "token" | "user" | "member" | "group" | "model" | "channel" | "key" | "tag" | "end_user";
/** `successes` are requests that were answered: each counts until it is known to have failed. */
export type LimitKind = "requests" | "successes" | "tokens" | "concurrency";

/** The claim of one request on one limit. */
export interface Claim {
  readonly scope: LimitScope;
  /** Id or name of the limited entity. */
  readonly subject: string;
  readonly kind: LimitKind;
  /** Most requests or tokens per window, or most requests at the same time. */
  readonly limit: number;
  /** 1, or an upper estimate of the tokens; at most `limit`, so that a free minute admits any request. */
  readonly amount: number;
  /** Length of the window; absent = a minute. Limits with different windows are counted separately. */
  readonly minutes?: number;
  /** Set for one of many values that share a rule and are chosen by clients. */
  readonly oneOf?: ManyValues;
}

/**
 * Values that are counted one by one as long as there are few of them at a time. Further ones are counted together, so
 * that a client that invents values costs no memory.
 */
export interface ManyValues {
  /** What the values belong to; the same for all of them. */
  readonly list: string;
  /** Most values that are counted one by one. */
  readonly most: number;
  /** The subject that counts the others. */
  readonly others: string;
}

/** The result of a request. */
export interface Used {
  readonly tokens: number;
  readonly isSuccess: boolean;
}

/** The result of a request that did not reach an upstream. */
export const NOTHING_USED: Used = { tokens: 0, isSuccess: false };

/** The state of a limit, with the claim if it was granted and without it if it was refused. */
export interface ClaimState {
  readonly claim: Claim;
  readonly used: number;
  /** Milliseconds until some of it is free again, after a refusal until the claim fits; for `concurrency` a guess. */
  readonly resetMs: number;
}

/** When and where a request was counted, which its correction needs. */
export interface TakenAt {
  /** Time of the counting clock. */
  readonly ms: number;
  /** True if this process counted it because the shared count was unreachable. */
  readonly isLocal?: boolean;
}

/** A time whose window is over: an excess counts now, a shortfall nowhere. */
export const LONG_AGO: TakenAt = { ms: 0 };

export type ClaimAnswer =
  | {
      readonly taken: true;
      readonly states: readonly ClaimState[];
      readonly at: TakenAt;
      /** What was counted, which later calls name; set if a claim was one of many values. */
      readonly claims?: readonly Claim[];
    }
  | { readonly taken: false; readonly state: ClaimState };

/**
 * Limits that one request takes all at once or not at all. Requests and tokens are counted in sixtieths of their
 * window: a window and the current sixtieth never hold more than the limit. Concurrency is counted by leases, which
 * expire on their own when their process dies. `claims-memory.ts` is for one process, `claims-redis.ts` for many; one
 * contract suite covers both.
 */
export interface Claims {
  /** Rejects with `limits_unavailable` if the operator wants requests refused while their limits cannot be checked. */
  take(requestId: string, claims: readonly Claim[]): Promise<ClaimAnswer>;
  /**
   * Replaces what `take` estimated at `takenAt` with what was really used; an excess over the estimate of a window that
   * is over counts now. Never rejects.
   */
  correct(claims: readonly Claim[], takenAt: TakenAt, used: Used): Promise<void>;
  /** Renews the leases and restores lost ones; called every few seconds. Never rejects. */
  renew(requestId: string, claims: readonly Claim[]): Promise<void>;
  /** Releases the slots of a request that ended. Never rejects. */
  release(requestId: string, claims: readonly Claim[]): Promise<void>;
}

/** Parts of a window, whatever its length. */
export const WINDOW_PARTS = 60;
export const CLAIM_LEASE_MS = 30_000;
/** Milliseconds after its last use for which a value is counted by itself: then nothing of it is in a window of a minute. */
export const VALUE_MS = 62_000;
/** The time at which a slot becomes free is unknown; callers retry after this time. */
export const CONCURRENCY_RETRY_MS = 1_000;

/** Returns the name of a limit in the counting store; the same for every request that it concerns. */
export function claimName({ kind, scope, subject, minutes }: Claim): string {
  const name = `${kind}:${scope}:${encodeURIComponent(subject)}`;
  return minutes === undefined ? name : `${name}:${minutes}m`;
}

/** Returns the claim that counts a value, or all further ones. */
export function resolveValue({ oneOf, ...claim }: Claim, isCountedAlone: boolean): Claim {
  return oneOf === undefined || isCountedAlone ? claim : { ...claim, subject: oneOf.others };
}

/** Returns the milliseconds of the parts by which a claim's window is counted. */
export function partMs({ minutes = 1 }: Claim): number {
  return (minutes * 60_000) / WINDOW_PARTS;
}

export function isConcurrency({ kind }: Claim): boolean {
  return kind === "concurrency";
}

export function isTokens({ kind }: Claim): boolean {
  return kind === "tokens";
}

/** True for limits of requests, including answered ones. */
export function isRequests({ kind }: Claim): boolean {
  return kind === "requests" || kind === "successes";
}

/** Returns the correction of a claim after its request; 0 if there is none. */
export function calculateCorrection({ kind, amount }: Claim, { tokens, isSuccess }: Used): number {
  if (kind === "tokens") return Math.round(tokens - amount);
  return kind === "successes" && !isSuccess ? -amount : 0;
}
