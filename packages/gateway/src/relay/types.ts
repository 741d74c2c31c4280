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
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** The token's group when it is `auto`, for the log. */
  readonly autoGroup: string | undefined;
  /** True on `/pg`, where no empty choices list may precede the text. */
  readonly isPlayground: boolean;
}
