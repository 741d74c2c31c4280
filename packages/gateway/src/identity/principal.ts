import type { Limits } from "@fairway/wire";
import { Refusal } from "../lib/refusal.ts";

/** The account behind a credential, read with it in one query and therefore never stale. */
export interface Account {
  readonly id: number;
  readonly username: string;
  readonly role: number;
  readonly status: number;
  readonly group: string;
  readonly isDeleted: boolean;
  /** The user's own; known where sessions are read. */
  readonly limits?: Limits | undefined;
}

/** The caller of a management endpoint. */
export interface Principal {
  readonly userId: number;
  readonly username: string;
  readonly role: number;
  readonly group: string;
  /** How the caller proved it. */
  readonly via: "session" | "access-token";
  /** SHA-256 of the session cookie's value, hex; undefined for access tokens. */
  readonly sessionHash: string | undefined;
  /** The session signed in or was confirmed within the last five minutes. */
  readonly isProven: boolean;
  /** Undefined for sessions. */
  readonly token: CallerToken | undefined;
}

/** The access token of a call. */
export interface CallerToken {
  readonly name: string;
  /** Empty = it may do nothing. */
  readonly scopes: readonly string[];
}

/** Refuses a caller who may not change credentials now: `session_required` and `confirmation_required`. */
export function requireProof({ via, isProven }: Pick<Principal, "via" | "isProven">): void {
  requireSession({ via });
  if (!isProven) throw new Refusal("confirmation_required");
}

/** Credentials are changed by people: a stolen access token must not outlive its withdrawal. */
export function requireSession({ via }: Pick<Principal, "via">): void {
  if (via === "access-token") throw new Refusal("session_required");
}

/** The result of checking the credentials of a request. */
export type Identified =
  | { readonly kind: "anonymous" }
  | { readonly kind: "unknown-token" }
  | {
      readonly kind: "account";
      readonly via: Principal["via"];
      /** Undefined when the row no longer exists. */
      readonly account: Account | undefined;
      readonly sessionHash: string | undefined;
      readonly isProven: boolean;
      readonly token: CallerToken | undefined;
    };

export const ANONYMOUS: Identified = { kind: "anonymous" };
