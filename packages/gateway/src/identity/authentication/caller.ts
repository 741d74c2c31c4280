import type { IncomingMessage } from "node:http";
import type { Limits } from "@fairway/wire";

/** The answer to "who is calling" on a relay route. */
export interface Caller {
  readonly userId: number;
  readonly username: string;
  readonly role: number;
  /** Effective group: the token's, else the user's. `auto` is resolved during selection. */
  readonly group: string;
  readonly userGroup: string;
  /** 0 in the playground. */
  readonly tokenId: number;
  readonly tokenName: string;
  /** The hash that finds the token; absent if there is none. */
  readonly keyHash?: string;
  readonly isUnlimited: boolean;
  /** The total allowance of the token in quota units; absent without a token or a limit. */
  readonly tokenGrant?: number;
  /** The revision of tokens at which the token was read; absent where there is no token. */
  readonly tokenRevision?: number;
  readonly modelLimits: ReadonlySet<string> | undefined;
  /** The token's own limits. */
  readonly tokenLimits?: Limits | undefined;
  /** The user's own limits. */
  readonly userLimits?: Limits | undefined;
  /** Channel chosen by an administrator with `sk-KEY-<id>`. */
  readonly pinnedChannel: number | undefined;
  readonly ip: string;
}

/** A signed-in user of the console before the body has named a group. */
export interface SessionCaller {
  /** Throws `group_not_allowed`. */
  inGroup(group: string | undefined): Caller;
}

/** Authenticates the caller of a relay route; throws AppError with the codes of the relay's error catalogue. */
export interface Authenticator {
  /** By API key, from every place where clients of compatible gateways send it. */
  byKey(request: IncomingMessage, ip: string, options?: { readonly allowExhausted?: boolean }): Promise<Caller>;
  /**
   * Throws when the key of a caller that was admitted before would be refused now: it may be disabled during a wait.
   */
  recheck(caller: Caller): Promise<void>;
  /**
   * By console session, for the playground; `group` is the one that the body names. A read that changes nothing may come
   * from the page itself, which cannot add the header that proves where a request was made.
   */
  bySession(request: IncomingMessage, ip: string, options?: { readonly isRead?: boolean }): Promise<SessionCaller>;
}
