import type { Ask, Bridge, DialectId, JsonObject, Operation } from "../dialects/types.ts";

/** A channel ready to use: lists parsed into sets, mappings into maps, keys decrypted. Built by the snapshot, frozen. */
export interface ChannelRecord {
  readonly id: number;
  readonly type: number;
  readonly name: string;
  readonly status: number;
  /** One entry per upstream key; never empty for an enabled channel. */
  readonly keys: readonly string[];
  readonly keyMode: "random" | "polling";
  /** Without trailing slash; "" means the provider's default. */
  readonly baseUrl: string;
  /** The family's free field: API version, region, plug-in, account id. */
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
}

/** The request to an upstream while it is being built; the only mutable object on the path. */
export interface UpstreamCall {
  method: "POST" | "GET";
  url: URL;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer | undefined;
}

export type Framing = "sse" | "json-lines" | "aws-eventstream" | "websocket" | "gemini-array";

/** One protocol that a provider offers for one operation, and where. */
export interface UpstreamRoute {
  readonly operation: Operation;
  readonly dialect: DialectId;
  /** Path below the base URL, or a function of the request. */
  readonly path: string | ((ask: Ask, upstreamModel: string, channel: ChannelRecord) => string);
  readonly framing?: Framing;
  /** Limits a route to models or channels that have it (`/v1/responses` of compatible vendors). */
  readonly when?: (ask: Ask, upstreamModel: string, channel: ChannelRecord) => boolean;
}

/** A named repair of outgoing JSON. Returns the same object when it changes nothing, so that bytes stay. */
export interface Quirk {
  readonly name: string;
  apply(body: JsonObject, ask: Ask, upstreamModel: string, channel: ChannelRecord): JsonObject;
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

/** What an upstream failure means. */
export interface Verdict {
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
}

/** JSON over HTTP for balances, model lists and token exchanges; bounded in time and size. */
export type HttpJson = (call: {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}) => Promise<{ readonly status: number; readonly json: unknown; readonly text: string }>;

/** What signing may need besides the channel. */
export interface SigningContext {
  /** The key chosen for this attempt. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly http: HttpJson;
  /** The client's own protocol headers that may travel (anthropic-version, anthropic-beta, openai-beta), validated. */
  readonly clientHeaders: Readonly<Record<string, string>>;
}

/** A vendor: data plus at most a few functions. One file and one export line in `providers/index.ts`. */
export interface ProviderAdapter {
  /** `channels.type`. */
  readonly type: number;
  /** Metrics label and vector prefix. */
  readonly id: string;
  readonly label: string;
  /** "" = the channel must set it. */
  readonly baseUrl: string;
  /** In order of preference. */
  readonly speaks: readonly UpstreamRoute[];
  /** Adds credentials, organisation, versions; may rewrite URL and body for signed protocols. */
  authorize(call: UpstreamCall, channel: ChannelRecord, context: SigningContext): void | Promise<void>;
  readonly models: readonly string[];
  readonly ownedBy: string;
  /** Switch for usage in streams exists (`stream_options.include_usage`). */
  readonly streamUsage: boolean;
  readonly bridges?: readonly Bridge[];
  readonly quirks?: readonly Quirk[];
  /** Overrides the general reading of a failure; undefined = use the general one. */
  readonly classify?: (status: number, headers: Readonly<Record<string, string>>, body: Buffer) => Verdict | undefined;
  /** US dollars left. */
  readonly balance?: (channel: ChannelRecord, key: string, http: HttpJson, now: number) => Promise<number>;
  /** Model ids that the vendor lists. */
  readonly listModels?: (channel: ChannelRecord, key: string, http: HttpJson) => Promise<string[]>;
  /** Shape of the key and of `other`, as the console shows it. */
  readonly keyHint?: string;
  readonly otherHint?: string;
  /** Accepted but no longer offered to operators. */
  readonly retired?: boolean;
  /** Kinds of channels that are served by the task core instead of the relay. */
  readonly isTask?: boolean;
}
