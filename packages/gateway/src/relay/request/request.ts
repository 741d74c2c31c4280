import type { IncomingHttpHeaders } from "node:http";
import type { RequestSpec, Body, Dialect } from "../../dialects/core/types.ts";
import type { ObjectDialect } from "../../providers/core/types.ts";
import type { Upload } from "../body/upload.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { CallProgress } from "./call-progress.ts";
import type { SharedIds } from "./shared-ids.ts";

export type { Authenticator, Caller, SessionCaller } from "../../identity/authentication/caller.ts";

/** What a call is for, as log rows store it. */
export interface CallTags {
  /** `app=shop|env=prod`, sorted by key; "" = none. */
  readonly text: string;
  /** The customer of the client; "" = unknown. */
  readonly endUser: string;
  /** True if tags were left out because the column has no room for them. */
  readonly isCut: boolean;
}

/** The account that stores what a request names. */
export interface PinnedAccount {
  readonly channelId: number;
  /** -1 if the account no longer exists. */
  readonly keyIndex: number;
  /** Set if it stores a file of the request. */
  readonly file?: { readonly id: string; readonly dialect: ObjectDialect } | undefined;
}

/**
 * One request of a client, as it was read. A request that falls back to another model continues as a copy that names
 * that model; both have the same `progress`.
 */
export interface RelayRequest {
  readonly id: string;
  readonly spec: RequestSpec;
  /** The client's protocol. */
  readonly dialect: Dialect;
  readonly body: Body;
  /** The original request, when `body` has stored items expanded in place, and the response that it continues. */
  readonly asked?: { readonly body: Body; readonly previous: string | undefined };
  /** Set for forms; `body` then holds their text fields as JSON. */
  readonly upload?: Upload;
  /** Content type of the body that is sent upstream. */
  readonly contentType: string;
  readonly caller: Caller;
  /** Path and query of the client, without key parameters. */
  readonly url: string;
  /** Protocol headers of the client that may be forwarded, lower-case and validated. */
  readonly protocolHeaders: Readonly<Record<string, string>>;
  /** Milliseconds of the monotonic clock at arrival. */
  readonly startedAt: number;
  /** The token's group when it is `auto`, for the log. */
  readonly autoGroup: string | undefined;
  /** True if the answer is stored for follow-ups: by the upstream, or by the gateway if it is converted. */
  readonly storesAnswer?: boolean;
  /** The only account that can serve: it stores what this request continues. */
  readonly pinnedAccount?: PinnedAccount;
  /** Ids in the body that earlier answers to the same user named. */
  readonly ownIds?: ReadonlySet<string>;
  /** Ids in the body that may be sent only to a channel that lists them. */
  readonly sharedIds?: SharedIds;
  /** Form fields that are sent with another value. */
  readonly formEdits?: ReadonlyMap<string, string>;
  /** The headers as the client sent them; none of them is forwarded from here. */
  readonly clientHeaders?: IncomingHttpHeaders;
  /** True on `/pg`, where no empty choices list may precede the text. */
  readonly isPlayground: boolean;
  /** The models that the client named after the first one, as far as its token and the operator allow that. */
  readonly askedModels?: readonly string[];
  /** What the call is for; undefined if it names nothing. */
  readonly tags?: CallTags | undefined;
  /** What happened to it so far. */
  readonly progress: CallProgress;
}
