import type { IncomingMessage } from "node:http";
import type { Ask, Body, Dialect } from "../dialects/types.ts";
/** The answer to "who is calling". */
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
  readonly isUnlimited: boolean;
  readonly modelLimits: ReadonlySet<string> | undefined;
  /** Channel chosen by an administrator with `sk-KEY-<id>`. */
  readonly pinnedChannel: number | undefined;
  readonly ip: string;
}

/** Everything the pipeline knows about one client request. */
export interface RelayRequest {
  readonly id: string;
  readonly ask: Ask;
  /** The client's protocol. */
  readonly dialect: Dialect;
  readonly body: Body;
  /** Content type of the body as it goes upstream. */
  readonly contentType: string;
  readonly caller: Caller;
  /** Path and query of the client, key parameters removed. */
  readonly url: string;
  /** Protocol headers of the client that may travel, lower-case and validated. */
  readonly protocolHeaders: Readonly<Record<string, string>>;
  /** Milliseconds of the monotonic clock at arrival. */
  readonly startedAt: number;
  /** The token's group when it is `auto`, for the log. */
  readonly autoGroup: string | undefined;
  /** True on `/pg`, where no empty choices list may precede the text. */
  readonly isPlayground: boolean;
}

/** Who calls a relay route; throws AppError with the codes of `contract-relay.md` section 2.2. */
export interface Authenticator {
  /** By API key, from every place that a client of the family puts it. */
  byKey(request: IncomingMessage, ip: string, options?: { readonly allowExhausted?: boolean }): Promise<Caller>;
  /** By console session, for the playground; `group` is the one that the body names. */
  bySession(request: IncomingMessage, ip: string): Promise<SessionCaller>;
}

/** A signed-in user of the console before the body has named a group. */
export interface SessionCaller {
  /** Throws `group_not_allowed`. */
  inGroup(group: string | undefined): Caller;
}
