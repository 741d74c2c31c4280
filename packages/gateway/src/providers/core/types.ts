import type { FilterOverrides, RelayedFields } from "@fairway/wire";
import type { Readable } from "node:stream";
import type { ReadRequestedOutput } from "../../dialects/core/types.ts";
import type { BatchSupport } from "./batches.ts";
import type { ListedModels } from "./listed-model.ts";
import type { SettingForm } from "./setting-form.ts";
import type { VideoTasks } from "./video.ts";
import type { Bridge, ChatServer } from "../../dialects/core/bridge.ts";
import type {
  AnswerIds,
  RequestSpec,
  Body,
  DialectId,
  JsonObject,
  Operation,
  StreamEvent,
} from "../../dialects/core/types.ts";
import type { FailedAnswer, UpstreamError } from "./failed-answer.ts";

/**
 * A channel that is ready to use: lists are parsed into sets, mappings into maps, keys are decrypted. The snapshot
 * builds it, frozen.
 */
export interface ChannelRecord extends RelayedFields {
  readonly id: number;
  /** One entry per upstream key; never empty for an enabled channel. */
  readonly keys: readonly string[];
  /** Indexes of the keys that are switched on; undefined = all. */
  readonly usableKeys?: readonly number[] | undefined;
  readonly keyMode: "random" | "polling";
  /** Without trailing slash; "" means the provider's default. */
  readonly baseUrl: string;
  readonly organization: string;
  readonly models: ReadonlySet<string>;
  readonly groups: readonly string[];
  readonly modelMapping: ReadonlyMap<string, string>;
  readonly statusMapping: ReadonlyMap<number, number>;
  readonly weight: number;
  readonly autoBan: boolean;
  readonly tag: string;
  readonly setting: JsonObject;
  readonly paramOverride: JsonObject | undefined;
  /** Headers of every call, which replace those that the vendor's adapter sets; `{key}` stands for the key. */
  readonly headers: ReadonlyMap<string, string>;
  /** What the upstream's list says about its models, by their upstream names. */
  readonly listed?: ListedModels;
}

/** The request to an upstream while it is being built; the only mutable object on the path. */
export interface UpstreamCall {
  method: "POST" | "GET" | "PATCH" | "DELETE";
  url: URL;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer | undefined;
  /** A form that is too large to be held in memory; it is sent instead of `body`. */
  upload?: Readable;
}

/**
 * How a streamed answer is cut into events. `providers/core/framing/framing.ts` turns every kind into SSE blocks.
 * `text-events` is SSE with raw text as data and a `meta:` line at the end.
 */
export type Framing = "sse" | "json-lines" | "aws-eventstream" | "text-events";

/** One protocol that a provider offers for one operation, and its path. */
export interface UpstreamRoute {
  readonly operation: Operation;
  readonly dialect: DialectId;
  /** Path below the base URL (query included), or a function of the request. An absolute URL replaces the base. */
  readonly path: string | ((spec: RequestSpec, upstreamModel: string, channel: ChannelRecord, key: string) => string);
  /** How streamed answers are framed, `sse` by default. Answers of type `application/json` are never framed. */
  readonly framing?: Framing;
  /**
   * Limits the route to models, channels or requests that can use it (`/v1/responses` of compatible vendors). Without a
   * body, it decides whether any request of this kind could use the route.
   */
  readonly when?: (spec: RequestSpec, upstreamModel: string, channel: ChannelRecord, body?: Body) => boolean;
  /** Query parameters of the client that are forwarded and replace those of the path; `all` only within one dialect. */
  readonly query?: "all" | readonly string[];
  /**
   * True if the vendor takes images only as bytes: image URLs in the request are fetched and inlined before conversion.
   */
  readonly inlinesImages?: boolean;
  /** For private protocols: the ids in answers that later requests of the user may name. */
  readonly answerIds?: AnswerIds;
  /** Returns the ids in the converted request that must be the user's own, or listed by the channel. */
  readonly requestIds?: (body: JsonObject) => readonly string[];
  /** Replaces the single request by polling, a WebSocket, a fan-out or a renewal of tokens. */
  readonly exchange?: Exchange;
}

/**
 * A named repair of outgoing JSON, applied last: the body is converted, names the upstream's model and requests usage.
 * It returns the same object if it changes nothing, so that the bytes stay the same.
 */
export interface RequestTransform {
  readonly name: string;
  /** Upstream dialects that it repairs; default: chat. */
  readonly on?: readonly DialectId[];
  /**
   * Paths that the repair rewords on purpose. Everything else that its result lacks or has changed is reported in the
   * log row and to the client: `findLost` compares the request before and after.
   */
  readonly rewords?: readonly string[];
  apply(body: JsonObject, spec: RequestSpec, upstreamModel: string, channel: ChannelRecord): JsonObject;
}

/** A converted request with the client's protocol headers that are sent with it. */
export interface HostRequest {
  readonly body: JsonObject;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface FilteredRequest extends HostRequest {
  /** Names of what was removed. */
  readonly dropped: readonly string[];
}

/** The target of a request, and what is known about the request. */
export interface FilterTarget {
  readonly upstreamModel: string;
  readonly channel: ChannelRecord;
  /** True if the client wrote the request in another protocol and so could not send the betas that it needs. */
  readonly isConverted: boolean;
  /** The operator's settings for hosts and channels. */
  readonly overrides?: FilterOverrides | undefined;
  /** Names that this channel has refused for the model before. */
  readonly learned?: ReadonlySet<string> | undefined;
}

/** Removes from a request what the host of its channel refuses, after every conversion and before it is signed. */
export interface HostFilter {
  readonly on: readonly DialectId[];
  apply(request: HostRequest, target: FilterTarget): FilteredRequest;
  /** Returns the names of what an answer of status 400 refuses; empty if it says something else. */
  refused(message: string, sent: HostRequest): readonly string[];
  /** Returns which host is behind the channel, for metrics and lists. */
  host(channel: ChannelRecord): string;
  readonly betas: BetaFlags;
}

/** Flags by which clients of a protocol request features that are not yet part of it. */
export interface BetaFlags {
  readonly header: string;
  /** Flags that clients are known to send; a test sends each of them. */
  readonly names: readonly string[];
  /** Returns the flags of a request, wherever it has them. */
  read(request: HostRequest): readonly string[];
}

/** Context that a response transform may read in addition to the answer. */
export interface ResponseContext {
  readonly spec: RequestSpec;
  readonly upstreamModel: string;
  readonly channel: ChannelRecord;
  /** Head of the upstream's answer, lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly requestId: string;
}

/**
 * A named repair of answers, applied before bridges and meters see them. Both functions return their argument if they
 * change nothing; its bytes are then forwarded unchanged.
 */
export interface ResponseTransform {
  readonly name: string;
  /** Upstream dialects that it repairs; default: chat. */
  readonly on?: readonly DialectId[];
  /** Texts to search for: a streamed event that holds none of them is not parsed; undefined = parse every event. */
  readonly marks?: readonly string[];
  answer?(body: JsonObject, context: ResponseContext): JsonObject;
  /**
   * Returns one function per stream, which may hold state; undefined = nothing to do. An empty list swallows the event.
   */
  stream?(context: ResponseContext): ((event: StreamEvent) => StreamEvent | readonly StreamEvent[]) | undefined;
}

/** JSON over HTTP for balances, model lists and token exchanges; bounded in time and size. */
export type HttpJson = (call: {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly proxy?: string | undefined;
}) => Promise<{ readonly status: number; readonly json: unknown; readonly text: string }>;

/** The answer of an upstream as it arrives. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Buffer>;
}

/** A text WebSocket to an upstream; `received` ends when the other side closes. */
export interface UpstreamSocket {
  send(text: string): void;
  readonly received: AsyncIterable<string>;
  close(): void;
}

/** The I/O of an exchange: the relay's connection pools, time limits and the client's abort signal. */
export interface ExchangeContext extends SigningContext {
  readonly spec: RequestSpec;
  readonly upstreamModel: string;
  readonly channel: ChannelRecord;
  /** Sends one call. Rejects like a plain attempt if the upstream cannot be reached. */
  send(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** Opens a WebSocket; if the upgrade is refused, returns the upstream's answer. */
  connect(call: UpstreamCall): Promise<UpstreamSocket | UpstreamAnswer>;
  /** Reads a file from a URL that the upstream names; guarded, because an answer may be forged. */
  download(url: string): Promise<{ readonly mediaType: string; readonly bytes: Buffer }>;
  /** Waits; rejects if the client disconnects. */
  sleep(ms: number): Promise<void>;
  readonly signal: AbortSignal;
}

/** Talks to the upstream in several steps and answers as if it had been one call. The call is already signed. */
export type Exchange = (call: UpstreamCall, context: ExchangeContext) => Promise<UpstreamAnswer>;

/** Context for signing in addition to the channel. */
export interface SigningContext {
  /** The key chosen for this attempt. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly http: HttpJson;
  /**
   * The client's own protocol headers that may be forwarded (anthropic-version, anthropic-beta, openai-beta),
   * validated.
   */
  readonly clientHeaders: Readonly<Record<string, string>>;
  /** The public address of this gateway, for vendors that want to know their callers. */
  readonly publicUrl?: string | undefined;
}

/** A protocol in which upstreams store files, and clients use them. */
export type ObjectDialect = "openai" | "anthropic" | "gemini";

/** How a vendor stores files. */
export interface FileService {
  readonly dialect: ObjectDialect;
  /** Path of the collection below the base URL; it may end with a query. */
  readonly path: string | ((channel: ChannelRecord) => string);
  /** Path at which uploads begin, if it is not the collection. */
  readonly uploadPath?: string;
  /** Path of uploads in parts; absent if the vendor has none. */
  readonly partsPath?: string;
  /** Path of the containers in which the vendor runs code; absent if clients reach none. */
  readonly containersPath?: FileService["path"];
  /** Purposes of files that the vendor takes; absent = any. */
  readonly purposes?: readonly string[];
  /** Returns the fields that the vendor wants next to the file, in place of those of the client. */
  readonly writeFields?: (file: {
    readonly purpose: string;
    readonly name: string;
  }) => Readonly<Record<string, string>>;
  /** States of a file that the vendor still changes by itself, lower-case. */
  readonly unsettledStates?: readonly string[];
}

/** How a vendor stores prompts that clients cache explicitly. */
export interface CacheService {
  readonly dialect: ObjectDialect;
  /** Path of the collection below the base URL. */
  readonly path: string;
  /** Returns US dollars for a million tokens and an hour as decimal text; undefined for models without a known price. */
  readonly storagePrice: (upstreamModel: string) => string | undefined;
}

/** Marks of cached prefixes that are items of their own in the lists of tools, system texts and blocks. */
export interface CachePoints {
  /** The members that lead to the list of tools. */
  readonly toolPath: readonly [outer: string, inner: string];
  /** Returns the item as JSON. */
  readonly item: (life: "5m" | "1h") => string;
  /** The member of blocks that no mark may follow. */
  readonly unmarkable: string;
}

/** A vendor: data plus at most a few functions. It needs one file and one export line in `providers/index.ts`. */
export interface ProviderAdapter {
  /** `channels.type`. */
  readonly type: number;
  /** Metrics label and vector prefix. */
  readonly id: string;
  /** True for servers of the operator's own, which may take calls without a key. */
  readonly isKeyOptional?: boolean;
  /** Programs with this protocol that people run on their own machine, each with its usual address. */
  readonly localServers?: readonly { readonly name: string; readonly address: string }[];
  /** True if compatible consoles may ask for the models of a saved channel; they may wherever a key is optional. */
  readonly listsSavedModels?: boolean;
  /** True if a key is a whole file, which may have several lines; such a channel has one key. */
  readonly hasKeyFile?: boolean;
  /** True if the field `other` of a channel must hold a region, or an object of regions by model. */
  readonly hasRegions?: boolean;
  /** Well-known value of `gen_ai.provider.name` in traces, if it is not `id`. */
  readonly telemetryName?: string;
  readonly label: string;
  /** "" = the channel must set it, unless `base` derives it. */
  readonly baseUrl: string;
  /** Derives the host from key, region or model; a channel's own base URL always wins. */
  readonly base?: (channel: ChannelRecord, key: string, upstreamModel: string) => string;
  /**
   * Further addresses, besides the routes and the base URL, that receive the key or a credential derived from it: token
   * exchanges, model lists at other hosts. May throw for keys that it cannot read.
   */
  readonly otherUrls?: (channel: ChannelRecord, key: string) => readonly string[];
  /** Members of a channel's `setting` that this vendor reads in addition to those of every channel. */
  readonly settings?: Readonly<Record<string, SettingForm>>;
  /** True if the base URL of a channel is the whole address of its calls. */
  readonly hasWholeUrl?: boolean;
  /** End of a base URL that operators paste although the paths already contain it. */
  readonly pastedEnd?: RegExp;
  /** Short names that operators may use as the base URL of a plan. */
  readonly namedBases?: Readonly<Record<string, string>>;
  /** Start of the path that the host of the Cloudflare AI gateway already implies. */
  readonly gatewayDrops?: string;
  /** Routes in order of preference. */
  readonly speaks: readonly UpstreamRoute[];
  /** Adds credentials, organisation and versions; may rewrite URL and body for signed protocols. */
  authorize(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void | Promise<void>;
  /** Set if the vendor stores files of clients. */
  readonly files?: FileService;
  /** Set if clients may cache prompts at the vendor. */
  readonly caches?: CacheService;
  readonly models: readonly string[];
  readonly ownedBy: string;
  /**
   * True if the vendor bills prompts that it refuses without an answer; otherwise their usage costs the client nothing.
   */
  readonly billsRefusals?: boolean;
  /** True if the vendor has a switch for usage in streams (`stream_options.include_usage`). */
  readonly streamUsage: boolean;
  readonly bridges?: readonly Bridge[];
  /** What its chat server accepts beyond the protocol, for requests that are converted to it. */
  readonly chatServer?: ChatServer | ((channel: ChannelRecord) => ChatServer | undefined);
  readonly requestTransforms?: readonly RequestTransform[];
  readonly hostFilter?: HostFilter;
  /**
   * Protocols in which the vendor takes marks that end a cached prefix, with the smallest prefix in tokens by its name of
   * the model; undefined for models that take none.
   */
  readonly cacheMarks?: Readonly<Partial<Record<DialectId, (upstreamModel: string) => number | undefined>>>;
  /** How these marks are written in protocols of the vendor alone. */
  readonly cachePoints?: Readonly<Partial<Record<DialectId, CachePoints>>>;
  /** Members by which a request chooses another product, in addition to those of routers; clients may not send them. */
  readonly productMembers?: readonly string[];
  /** True if requests name a deployment, a bot or an endpoint, and answers name the model behind it. */
  readonly answersOtherNames?: boolean;
  /** Readers of the output limits in the requests that are sent, by protocol; default: the protocol's own members. */
  readonly requestedOutput?: Readonly<Partial<Record<DialectId, ReadRequestedOutput>>>;
  readonly responseTransforms?: readonly ResponseTransform[];
  /**
   * Overrides the general reading of an answer; undefined = use the general one. Called for every failure, for whole
   * answers of status 200 and for the first event of a stream, because some vendors fail with status 200.
   */
  readonly classify?: (answer: FailedAnswer) => UpstreamError | undefined;
  /** Reads the remaining balance, in the currency of the vendor. */
  readonly balance?: (channel: ChannelRecord, key: string, http: HttpJson, now: number) => Promise<number>;
  /** Reads the model ids that the vendor lists. */
  readonly listModels?: (channel: ChannelRecord, key: string, http: HttpJson, now: number) => Promise<string[]>;
  /** Shape of the key and of `other`, as the console shows it. */
  readonly keyHint?: string;
  readonly otherHint?: string;
  /** Initial value of `other` in the form for a new channel. */
  readonly otherDefault?: string;
  /** True if the type is accepted but no longer offered to operators. */
  readonly retired?: boolean;
  /** True if the task core serves these channels instead of the relay. */
  readonly isTask?: boolean;
  /** Set if the vendor takes batches. */
  readonly batches?: BatchSupport | ((channel: ChannelRecord) => BatchSupport);
  /** Set for task channels that create videos. */
  readonly videos?: VideoTasks;
  /** For task channels: true if the client's speed mode stays in the path. */
  readonly forwardsMode?: boolean;
}
