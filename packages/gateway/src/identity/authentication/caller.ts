import type { IncomingMessage } from "node:http";
import type { FallbackEntry, Limits } from "@fairway/wire";
import type { OwnTagLimits } from "../../snapshot/tag-limits.ts";
import type { OwnTags } from "../../snapshot/tag-policy.ts";
import type { TeamRecord } from "../../snapshot/types.ts";

/** The caller of a relay route. */
export interface Caller {
  readonly userId: number;
  readonly username: string;
  readonly role: number;
  /** The effective group: the token's, or else the user's. `auto` is resolved during selection. */
  readonly group: string;
  readonly userGroup: string;
  /** 0 in the playground. */
  readonly tokenId: number;
  readonly tokenName: string;
  /** The hash that identifies the token; absent if there is none. */
  readonly keyHash?: string;
  /** First and last characters of the key; set while several keys of the token work. */
  readonly keyHint?: string;
  readonly isUnlimited: boolean;
  /** The total allowance of the token in quota units; absent if there is no token or no limit. */
  readonly tokenGrant?: number;
  /** The revision of tokens at which the token was read; absent if there is no token. */
  readonly tokenRevision?: number;
  readonly modelLimits: ReadonlySet<string> | undefined;
  /** The token's own limits. */
  readonly tokenLimits?: Limits | undefined;
  /** The user's own limits; for a key of a team, those of the team. */
  readonly userLimits?: Limits | undefined;
  /** Limits of the member of a team over all keys that the member made. */
  readonly memberLimits?: Limits | undefined;
  /** The token's own models to fall back to, or `off`; undefined = those of the operator. */
  readonly fallbacks?: readonly FallbackEntry[] | "off" | undefined;
  /** The token's own choice of marks for prompt caches; absent = as the channel says. */
  readonly promptCache?: "off" | "auto" | "always";
  /** The team whose wallet pays; absent for persons. */
  readonly team?: TeamRecord;
  /** The channel that an administrator selected with `sk-KEY-<id>`. */
  /** Fixed tags and policies of the token and its team; absent if there are none. */
  readonly tags?: OwnTags | undefined;
  /** Limits of the token and of the account by values of tags; absent if there are none. */
  readonly tagLimits?: readonly OwnTagLimits[] | undefined;
  readonly pinnedChannel: number | undefined;
  readonly ip: string;
}

/** A signed-in user of the console, before the body has been read for a group. */
export interface SessionCaller {
  /** Returns the caller in a group; throws `group_not_allowed`. */
  inGroup(group: string | undefined): Caller;
}

/** Authenticates the caller of a relay route; throws AppError with the codes of the relay's error catalogue. */
export interface Authenticator {
  /** Authenticates by API key, in any place in which clients of compatible gateways send it. */
  byKey(request: IncomingMessage, ip: string, options?: { readonly allowExhausted?: boolean }): Promise<Caller>;
  /**
   * Throws if the key of a caller that was admitted earlier would be refused now, because it may be disabled during a
   * wait.
   */
  recheck(caller: Caller): Promise<void>;
  /**
   * Authenticates by console session, for the playground; `group` is the one that the body names. A read without
   * changes may come from the page itself, which cannot add the header that proves the origin of a request.
   */
  bySession(request: IncomingMessage, ip: string, options?: { readonly isRead?: boolean }): Promise<SessionCaller>;
}
