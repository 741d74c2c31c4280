import type { IncomingHttpHeaders } from "node:http";
import type { RequestSpec, Body, Dialect, StreamForm } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { CallSpan } from "../../observability/tracing/call-span.ts";
import type { ObjectDialect } from "../../providers/core/types.ts";
import type { Upload } from "../body/upload.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { FallbackNote, Fallbacks } from "./fallbacks.ts";
import type { SharedIds } from "./shared-ids.ts";
import type { TracedCandidates, FailedAttempt } from "./traced-route.ts";
import type { StopNotes } from "./stop-notes.ts";

export type { Authenticator, Caller, SessionCaller } from "../../identity/authentication/caller.ts";

/** The account that stores what a request names. */
export interface PinnedAccount {
  readonly channelId: number;
  /** -1 if the account no longer exists. */
  readonly keyIndex: number;
  /** Set if it stores a file of the request. */
  readonly file?: { readonly id: string; readonly dialect: ObjectDialect } | undefined;
}

/** Everything the pipeline knows about one client request. */
export interface RelayRequest extends StopNotes {
  readonly id: string;
  /** Names the model that serves: it changes when the request falls back to another one. */
  spec: RequestSpec;
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
  /** Models that may serve in place of the requested one; absent for most requests. */
  fallbacks?: Fallbacks;
  /** Set once the request looked for another model. */
  fallback?: FallbackNote | undefined;
  /** The limit that refused the request last; `channel` if every channel was full. */
  fullLimit?: string | undefined;
  /** Milliseconds that the request waited for a channel; set when it leaves the queue. */
  queueMs?: number;
  /** True if the conversation stays with the chosen channel: after a failure, no other one is tried. */
  isBound?: boolean;
  /** Set once the caller's limits have been checked. */
  isCounted?: boolean;
  /** Why the gateway ends the request; also set while no attempt runs, and none begins after that. */
  stopped?: AppError;
  /** Failed attempts, oldest first; absent if there are none. */
  failures?: FailedAttempt[];
  /** The selection of its channels; set once they are chosen. */
  selection?: { candidates(): TracedCandidates; leave(): void };
  /** True if the channel served the conversation before. */
  isAffine?: boolean;
  /** The form of its stream, which keep-alives may already have begun. */
  form?: StreamForm | undefined;
  /** Its span; set if traces are sent. */
  span?: CallSpan;
}
