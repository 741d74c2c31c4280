import type { IncomingHttpHeaders } from "node:http";
import type { RequestSpec, Body, Dialect, StreamForm } from "../../dialects/core/types.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { CallSpan } from "../../observability/tracing/call-span.ts";
import type { Upload } from "../body/upload.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { SharedIds } from "./shared-ids.ts";
import type { TracedCandidates, FailedAttempt } from "./traced-route.ts";
import type { StopNotes } from "./stop-notes.ts";

export type { Authenticator, Caller, SessionCaller } from "../../identity/authentication/caller.ts";

/** Everything the pipeline knows about one client request. */
export interface RelayRequest extends StopNotes {
  readonly id: string;
  readonly spec: RequestSpec;
  /** The client's protocol. */
  readonly dialect: Dialect;
  readonly body: Body;
  /** The original request, when `body` has stored items expanded in place, and the response that it continues. */
  readonly asked?: { readonly body: Body; readonly previous: string | undefined };
  /** Set for forms; `body` then holds their text fields as JSON. */
  readonly upload?: Upload;
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
  /** The answer is stored for follow-ups: by the upstream, or here where it is converted. */
  readonly storesAnswer?: boolean;
  /** The only account that can serve: it stores what this request continues. */
  readonly pinnedAccount?: { readonly channelId: number; readonly keyIndex: number };
  /** Ids in the body that answers to the same user named. */
  readonly ownIds?: ReadonlySet<string>;
  /** Ids in the body that only a channel that lists them may be sent. */
  readonly sharedIds?: SharedIds;
  /** Fields of the form that travel with another value. */
  readonly formEdits?: ReadonlyMap<string, string>;
  /** As the client sent them; nothing of them travels from here. */
  readonly clientHeaders?: IncomingHttpHeaders;
  /** True on `/pg`, where no empty choices list may precede the text. */
  readonly isPlayground: boolean;
  /** Milliseconds that it waited for a channel; set when it left the queue. */
  queueMs?: number;
  /** Its conversation stays with the channel that was chosen: a failure is not tried elsewhere. */
  isBound?: boolean;
  /** Set once the limits of the caller have been asked. */
  isCounted?: boolean;
  /** Why this side ends it; set also while no attempt is under way, and none begins after that. */
  stopped?: AppError;
  /** Attempts that failed, oldest first; absent where none did. */
  failures?: FailedAttempt[];
  /** Where its channels are chosen; set once they are. */
  selection?: { candidates(): TracedCandidates };
  /** Its conversation was served by the channel before. */
  isAffine?: boolean;
  /** The form of its stream, which keep-alives may have begun. */
  form?: StreamForm | undefined;
  /** Its trace; set where traces are sent. */
  span?: CallSpan;
}
