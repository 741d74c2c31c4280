import type { Limits } from "@fairway/wire";

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

/** Who calls a management endpoint. */
export interface Principal {
  readonly userId: number;
  readonly username: string;
  readonly role: number;
  readonly group: string;
  /** How the caller proved it. */
  readonly via: "session" | "access-token";
  /** SHA-256 of the session cookie's value, hex; undefined for access tokens. */
  readonly sessionHash: string | undefined;
}

/** What the credentials of a request came to. */
export type Identified =
  | { readonly kind: "anonymous" }
  | { readonly kind: "unknown-token" }
  | {
      readonly kind: "account";
      readonly via: Principal["via"];
      /** Undefined when the row is gone. */
      readonly account: Account | undefined;
      readonly sessionHash: string | undefined;
    };

export const ANONYMOUS: Identified = { kind: "anonymous" };
