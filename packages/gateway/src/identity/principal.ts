import type { Limits, TagLimits } from "@fairway/wire";
import { Refusal } from "../lib/refusal.ts";

/** The account of a credential, read together with it in one query and therefore never stale. */
export interface Account {
  readonly id: number;
  readonly username: string;
  readonly role: number;
  readonly status: number;
  readonly group: string;
  readonly isDeleted: boolean;
  /** The user's own limits; known if a session was read. */
  readonly limits?: Limits | undefined;
  /** The user's limits by values of tags; known if a session was read. */
  readonly tagLimits?: TagLimits | undefined;
}

/** The caller of a management endpoint. */
export interface Principal {
  readonly userId: number;
  readonly username: string;
  readonly role: number;
  readonly group: string;
  /** The kind of credential that the caller presented. */
  readonly via: "session" | "access-token";
  /** SHA-256 of the session cookie's value, hex; undefined for access tokens. */
  readonly sessionHash: string | undefined;
  /** True if the session signed in or was confirmed within the last five minutes. */
  readonly isProven: boolean;
  /** Undefined for sessions. */
  readonly token: CallerToken | undefined;
}

/** The access token of a call. */
export interface CallerToken {
  readonly name: string;
  /** Empty = no permissions. */
  readonly scopes: readonly string[];
  /** Set if the token belongs to a service account, which acts in its team alone; team 0 = the installation. */
  readonly serviceAccount?: { readonly id: number; readonly teamId: number };
}

/** Names who calls: service accounts share an account, or have none. */
export function nameCaller({ userId, token }: Pick<Principal, "userId" | "token">): number | string {
  return token?.serviceAccount ? `s${token.serviceAccount.id}` : userId;
}

/** Refuses a caller who may not change credentials now, with `session_required` or `confirmation_required`. */
export function requireProof({ via, isProven }: Pick<Principal, "via" | "isProven">): void {
  requireSession({ via });
  if (!isProven) throw new Refusal("confirmation_required");
}

/**
 * Refuses calls without a session: only people change credentials, because a stolen access token must not outlive its
 * revocation.
 */
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
      /** Undefined if the row no longer exists. */
      readonly account: Account | undefined;
      readonly sessionHash: string | undefined;
      readonly isProven: boolean;
      readonly token: CallerToken | undefined;
    };

export const ANONYMOUS: Identified = { kind: "anonymous" };
