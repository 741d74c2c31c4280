import type { FilterOverrides } from "@fairway/wire";
import type { Readable } from "node:stream";
import type { ReadRequestedOutput } from "../../dialects/core/types.ts";
import type { VideoTasks } from "./video.ts";
import type {
  AnswerIds,
  RequestSpec,
  Body,
  Bridge,
  ChatServer,
  DialectId,
  JsonObject,
  JsonValue,
  Operation,
  StreamEvent,
} from "../../dialects/core/types.ts";

/** What an upstream's list says of a model; a member is absent where it says nothing. */
export interface ListedModel {
  readonly contextTokens?: number;
  readonly outputTokens?: number;
  readonly input?: readonly string[];
  readonly output?: readonly string[];
}

export type ListedModels = ReadonlyMap<string, ListedModel>;

/** A channel ready to use: lists parsed into sets, mappings into maps, keys decrypted. Built by the snapshot, frozen. */
export interface ChannelRecord {
  readonly id: number;
  readonly type: number;
  readonly name: string;
  readonly status: number;
  /** One entry per upstream key; never empty for an enabled channel. */
  readonly keys: readonly string[];
  /** Places of the keys that are switched on; undefined = all. */
  readonly usableKeys?: readonly number[] | undefined;
  readonly keyMode: "random" | "polling";
  /** Without trailing slash; "" means the provider's default. */
  readonly baseUrl: string;
  /** Compatible gateways' free field: API version, region, plug-in, account id. */
  readonly other: string;
  readonly organization: string;
  readonly models: ReadonlySet<string>;
  readonly groups: readonly string[];
  readonly modelMapping: ReadonlyMap<string, string>;
  readonly statusMapping: ReadonlyMap<number, number>;
  readonly priority: number;
  readonly weight: number;
  readonly autoBan: boolean;
  readonly testModel: string;
  /** 0 = no limit. */
  readonly maxInputTokens: number;
  readonly tag: string;
  readonly setting: JsonObject;
  readonly paramOverride: JsonObject | undefined;
  /** Set on every call, in place of what the vendor's adapter sets; `{key}` stands for the key. */
  readonly headers: ReadonlyMap<string, string>;
  /** What the upstream's list says of its models, by their names there. */
  readonly listed?: ListedModels;
}

/** The request to an upstream while it is being built; the only mutable object on the path. */
export interface UpstreamCall {
  method: "POST" | "GET" | "DELETE";
  url: URL;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer | undefined;
  /** Sent instead of `body`: a form that is too large to be held in memory. */
  upload?: Readable;
}

/**
 * How a streamed answer is cut into events. `providers/core/framing.ts` turns every kind into SSE blocks.
 * `text-events` is SSE whose data is raw text and whose end carries a `meta:` line.
 */
export type Framing = "sse" | "json-lines" | "aws-eventstream" | "text-events";

/** One protocol that a provider offers for one operation, and where. */
export interface UpstreamRoute {
  readonly operation: Operation;
  readonly dialect: DialectId;
  /** Path below the base URL (query included), or a function of the request. An absolute URL replaces the base. */
  readonly path: string | ((spec: RequestSpec, upstreamModel: string, channel: ChannelRecord, key: string) => string);
  /** How streamed answers are framed, `sse` by default. Answers of type `application/json` are never framed. */
  readonly framing?: Framing;
  /**
   * Limits a route to models, channels or requests that have it (`/v1/responses` of compatible vendors). Without a
   * body the question is whether any request of this kind could take it.
   */
  readonly when?: (spec: RequestSpec, upstreamModel: string, channel: ChannelRecord, body?: Body) => boolean;
  /** Query parameters of the client that travel and replace those of the path; `all` only within one dialect. */
  readonly query?: "all" | readonly string[];
  /** The vendor takes images as bytes only: addresses in the request are fetched and inlined before conversion. */
  readonly inlinesImages?: boolean;
  /** For private protocols: ids in answers that later requests of the user may name. */
  readonly answerIds?: AnswerIds;
  /** Ids in the converted request that must be the user's own, or listed by the channel. */
  readonly requestIds?: (body: JsonObject) => readonly string[];
  /** Replaces the single request: polling, WebSocket, fan-out, renewal of tokens. */
  readonly exchange?: Exchange;
}

/**
 * A named repair of outgoing JSON, applied last: conversion is done, the body names the upstream's model and requests
 * usage. Returns the same object when it changes nothing, so that bytes stay.
 */
export interface RequestTransform {
  readonly name: string;
  /** Upstream dialects that it repairs; default: chat. */
  readonly on?: readonly DialectId[];
  /**
   * Paths that it says in other words. Everything else that its result lacks or has changed is named in the log row and
   * to the client: `findLost` compares what went in with what came out.
   */
  readonly rewords?: readonly string[];
  apply(body: JsonObject, spec: RequestSpec, upstreamModel: string, channel: ChannelRecord): JsonObject;
}

/** A converted request with the client's protocol headers that travel with it. */
export interface HostRequest {
  readonly body: JsonObject;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface FilteredRequest extends HostRequest {
  /** Names of what was taken out. */
  readonly dropped: readonly string[];
}

/** Where a request goes, and what is known of it. */
export interface FilterTarget {
  readonly upstreamModel: string;
  readonly channel: ChannelRecord;
  /** The client wrote it in another protocol, and knows nothing of what has to go with it. */
  readonly isConverted: boolean;
  /** What the operator says of hosts and channels. */
  readonly overrides?: FilterOverrides | undefined;
  /** Names that this channel refused for the model before. */
  readonly learned?: ReadonlySet<string> | undefined;
}

/** Takes out of a request what the host of its channel refuses, after every conversion and before it is signed. */
export interface HostFilter {
  readonly on: readonly DialectId[];
  apply(request: HostRequest, target: FilterTarget): FilteredRequest;
  /** Names of what an answer of status 400 refuses; empty where it says something else. */
  refused(message: string, sent: HostRequest): readonly string[];
  /** What serves behind the channel, for metrics and lists. */
  host(channel: ChannelRecord): string;
  readonly betas: BetaFlags;
}

/** Flags by which clients of a protocol ask for what is not yet part of it. */
export interface BetaFlags {
  readonly header: string;
  /** Those that clients are known to send; a test sends each of them. */
  readonly names: readonly string[];
  /** Those of a request, wherever it has them. */
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
 * A named repair of what comes back, applied before bridges and meters see it. Both functions return what they were
 * given when they change nothing; such bytes are forwarded untouched.
 */
export interface ResponseTransform {
  readonly name: string;
  /** Upstream dialects that it repairs; default: chat. */
  readonly on?: readonly DialectId[];
  /** A streamed event that holds none of these texts is not even parsed; undefined = parse every event. */
  readonly marks?: readonly string[];
  answer?(body: JsonObject, context: ResponseContext): JsonObject;
  /** One function per stream, so that it may remember; none = nothing to do. An empty list swallows the event. */
  stream?(context: ResponseContext): ((event: StreamEvent) => StreamEvent | readonly StreamEvent[]) | undefined;
}

export type ErrorClass =
  | "bad_request"
  | "bad_key"
  | "out_of_credit"
  | "rate_limit"
  | "overloaded"
  | "not_found"
  | "content_filter"
  | "timeout"
  | "server";

/** The meaning of an upstream failure. */
export interface UpstreamError {
  readonly class: ErrorClass;
  readonly retry: boolean;
  readonly disable: boolean;
  readonly message: string;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  /** HTTP status of the upstream after the provider's own reading (a 200 may hold a failure). */
  readonly status: number;
  readonly retryAfterMs?: number;
  /** Verdicts of a content filter, as `innererror` shows them to clients. */
  readonly innerError?: JsonObject;
}

/** An answer that may be a failure, read as far as needed. */
export interface FailedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The body (or the event's data) when it is JSON. */
  readonly json: JsonValue | undefined;
}

/** A refusal before the call itself: a key of the wrong form, a token exchange that failed. */
export class UpstreamRefusal extends Error {
  readonly upstreamError: UpstreamError;

  constructor(upstreamError: UpstreamError) {
    super(upstreamError.message);
    this.name = "UpstreamRefusal";
    this.upstreamError = upstreamError;
  }
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
  /** Sends one call. Rejects like a plain attempt when the upstream cannot be reached. */
  send(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** Opens a WebSocket; a refused upgrade is answered as what the upstream said. */
  connect(call: UpstreamCall): Promise<UpstreamSocket | UpstreamAnswer>;
  /** Reads a file that the upstream names by address; guarded, since an answer may be forged. */
  download(url: string): Promise<{ readonly mediaType: string; readonly bytes: Buffer }>;
  /** Waits; rejects when the client leaves. */
  sleep(ms: number): Promise<void>;
  readonly signal: AbortSignal;
}

/** Talks to the upstream in more than one step and answers as if it had been one. The call is signed already. */
export type Exchange = (call: UpstreamCall, context: ExchangeContext) => Promise<UpstreamAnswer>;

/** Context for signing in addition to the channel. */
export interface SigningContext {
  /** The key chosen for this attempt. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly http: HttpJson;
  /** The client's own protocol headers that may travel (anthropic-version, anthropic-beta, openai-beta), validated. */
  readonly clientHeaders: Readonly<Record<string, string>>;
  /** Where this gateway is reached, for vendors that want to know their callers. */
  readonly publicUrl?: string | undefined;
}

/** A vendor: data plus at most a few functions. One file and one export line in `providers/index.ts`. */
/** Values of a member of a channel's `setting`: one of these texts, or all of a kind. */
export type SettingForm = readonly string[] | "flag" | "text" | "texts" | "object" | "objects" | "address" | "paths";

export interface ProviderAdapter {
  /** `channels.type`. */
  readonly type: number;
  /** Metrics label and vector prefix. */
  readonly id: string;
  /** True for servers of the operator's own, which may take calls without a key. */
  readonly isKeyOptional?: boolean;
  /** A key is a whole file, which may have several lines; a channel has one. */
  readonly hasKeyFile?: boolean;
  /** The field `other` of a channel holds a region, or an object of regions by model; it is required. */
  readonly hasRegions?: boolean;
  /** Well-known value of `gen_ai.provider.name` in traces, where it is not `id`. */
  readonly telemetryName?: string;
  readonly label: string;
  /** "" = the channel must set it, unless `base` derives it. */
  readonly baseUrl: string;
  /** The host where it follows from key, region or model; a channel's own base URL always wins. */
  readonly base?: (channel: ChannelRecord, key: string, upstreamModel: string) => string;
  /**
   * Addresses in addition to those of the routes and the base URL that get the key or what is made from it: token exchanges,
   * lists at hosts of their own. May throw for keys that it cannot read.
   */
  readonly otherUrls?: (channel: ChannelRecord, key: string) => readonly string[];
  /** Members of a channel's `setting` that this vendor reads in addition to those of every channel. */
  readonly settings?: Readonly<Record<string, SettingForm>>;
  /** The base URL of a channel is the whole address of its calls. */
  readonly hasWholeUrl?: boolean;
  /** End of a base URL that operators paste with it although the paths hold it themselves. */
  readonly pastedEnd?: RegExp;
  /** Short names that operators may use as the base URL of a plan. */
  readonly namedBases?: Readonly<Record<string, string>>;
  /** Start of the path that the Cloudflare AI gateway host already stands for. */
  readonly gatewayDrops?: string;
  /** In order of preference. */
  readonly speaks: readonly UpstreamRoute[];
  /** Adds credentials, organisation, versions; may rewrite URL and body for signed protocols. */
  authorize(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void | Promise<void>;
  readonly models: readonly string[];
  readonly ownedBy: string;
  /** The vendor bills prompts that it refuses without an answer; their usage costs the client nothing otherwise. */
  readonly billsRefusals?: boolean;
  /** Switch for usage in streams exists (`stream_options.include_usage`). */
  readonly streamUsage: boolean;
  readonly bridges?: readonly Bridge[];
  /** What its chat server takes beyond the protocol, for requests that are converted to it. */
  readonly chatServer?: ChatServer | ((channel: ChannelRecord) => ChatServer | undefined);
  readonly requestTransforms?: readonly RequestTransform[];
  readonly hostFilter?: HostFilter;
  /** Members, in addition to those of routers, by which a request chooses another product; clients may not send them. */
  readonly productMembers?: readonly string[];
  /** Requests name a deployment, a bot or an endpoint, and answers name the model behind it. */
  readonly answersOtherNames?: boolean;
  /** Where limits of the output stand in the requests that are sent, by protocol; default: the protocol's own places. */
  readonly requestedOutput?: Readonly<Partial<Record<DialectId, ReadRequestedOutput>>>;
  readonly responseTransforms?: readonly ResponseTransform[];
  /**
   * Overrides the general reading of an answer; undefined = use the general one. Asked about every failure, about
   * whole answers of status 200 and about the first event of a stream: some vendors fail with status 200.
   */
  readonly classify?: (answer: FailedAnswer) => UpstreamError | undefined;
  /** Reads the remaining balance, in the currency of the vendor. */
  readonly balance?: (channel: ChannelRecord, key: string, http: HttpJson, now: number) => Promise<number>;
  /** Model ids that the vendor lists. */
  readonly listModels?: (channel: ChannelRecord, key: string, http: HttpJson, now: number) => Promise<string[]>;
  /** Shape of the key and of `other`, as the console shows it. */
  readonly keyHint?: string;
  readonly otherHint?: string;
  /** What forms of a new channel hold in that field. */
  readonly otherDefault?: string;
  /** Accepted but no longer offered to operators. */
  readonly retired?: boolean;
  /** Kinds of channels that are served by the task core instead of the relay. */
  readonly isTask?: boolean;
  /** Set for task channels that create videos. */
  readonly videos?: VideoTasks;
  /** For task channels: the client's speed mode stays in the path. */
  readonly forwardsMode?: boolean;
}
