import type { Readable } from "node:stream";
import { AppError } from "../lib/app-error.ts";
import { readFailure } from "../providers/core/errors/classify.ts";
import { setChannelHeaders } from "../providers/core/channel-headers.ts";
import { collectSecrets, maskError } from "../providers/core/mask.ts";
import { createChannelHttp, readProxy } from "../providers/core/proxy.ts";
import { resolveContainersPath, resolveFilesPath, storeUrl } from "../providers/core/route-url.ts";
import { providerByType } from "../providers/registry.ts";
import type {
  ChannelRecord,
  HttpJson,
  ProviderAdapter,
  UpstreamAnswer,
  UpstreamCall,
} from "../providers/core/types.ts";
import { DEFAULT_REST_MS } from "../relay/selection/cooldown.ts";
import { collect, sendCall } from "../relay/upstream/collected-answer.ts";
import { refusedByUpstream, unreachable, type Failure } from "../relay/upstream/failure.ts";
import type { Upstreams } from "../relay/upstream/upstream.ts";
import type { OpenAccount } from "./account.ts";

export interface ObjectRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** What follows the path of the vendor's collection of files, such as `/<id>/content`. */
  readonly below?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The call begins an upload, for which some vendors have another path. */
  readonly isUpload?: boolean;
  /** The call is about an upload in parts, for which vendors have a collection of its own. */
  readonly isParts?: boolean;
  /** The call is about a container, for which vendors have a collection of its own. */
  readonly isContainer?: boolean;
  /** Path and query that the upstream itself named, in place of those of its collection. */
  readonly named?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Protocol headers that the client sent and the vendor's adapter may forward. */
  readonly clientHeaders?: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable;
  readonly signal: AbortSignal;
}

/** Thrown for a refusal of the upstream; the client gets `error`. */
export class ObjectFailure extends Error {
  readonly failure: Failure;
  readonly status: number;

  constructor(failure: Failure, status: number) {
    super(failure.error.message, { cause: failure.error });
    this.name = "ObjectFailure";
    this.failure = failure;
    this.status = status;
  }
}

/** Calls an account that stores objects. Rejects with ObjectFailure unless the answer is a success. */
export type CallAccount = (account: OpenAccount, request: ObjectRequest) => Promise<UpstreamAnswer>;

export interface ObjectUpstreamDeps {
  readonly upstreams: Upstreams;
  readonly http: HttpJson;
  readonly userAgent: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly disableKeywords: () => readonly string[];
  readonly headersTimeoutMs: { readonly whole: number };
  readonly idleTimeoutMs: number;
}

const MAX_FAILURE_BYTES = 256 * 1024;
const MAX_JSON_BYTES = 1024 * 1024;

export function createCallAccount(deps: ObjectUpstreamDeps): CallAccount {
  return async (account, request) => {
    const { channel } = account;
    const call = await buildCall(account, request, deps);
    const wait = waitForAnswer(call.upload, deps.headersTimeoutMs.whole);
    const timeouts = { headersMs: wait.headersMs, idleMs: deps.idleTimeoutMs };
    const signal = AbortSignal.any([request.signal, wait.signal]);
    let answer: UpstreamAnswer;
    try {
      answer = await sendCall(deps.upstreams, call, { proxy: readProxy(channel), timeouts, signal });
    } catch (cause) {
      // What ended the upload, such as a client that left, is more useful than the broken connection.
      if (signal.aborted) throw signal.reason;
      if (cause instanceof AppError) throw cause;
      throw new ObjectFailure(unreachable(cause instanceof Error ? cause : new Error(String(cause))), 0);
    }
    wait.stop();
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw await readRefusal(answer, account, deps);
  };
}

interface Wait {
  /** Time limit from the beginning of the call to the head of its answer; 0 = none. */
  readonly headersMs: number;
  readonly signal: AbortSignal;
  stop(): void;
}

/** An upload is as slow as its client, so the time for the answer begins when all of it was sent. */
function waitForAnswer(upload: Readable | undefined, ms: number): Wait {
  const late = new AbortController();
  if (!upload || ms === 0) return { headersMs: ms, signal: late.signal, stop: () => undefined };
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  upload.once("end", () => {
    if (!isOver) timer = setTimeout(() => late.abort(new AppError("upstream_timeout")), ms);
  });
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
  };
  upload.once("error", stop);
  return { headersMs: 0, signal: late.signal, stop };
}

function requireProvider({ type }: ChannelRecord): ProviderAdapter {
  const provider = providerByType(type);
  if (!provider) throw new AppError("unsupported_by_channel");
  return provider;
}

async function buildCall(
  account: OpenAccount,
  request: ObjectRequest,
  deps: ObjectUpstreamDeps,
): Promise<UpstreamCall> {
  const { channel, keyIndex } = account;
  const { method, headers, clientHeaders = {}, body } = request;
  const provider = requireProvider(channel);
  const key = channel.keys[keyIndex] ?? "";
  const call: UpstreamCall = {
    method,
    url: buildUrl(account, provider, request),
    headers: { accept: "application/json", "accept-encoding": "identity", "user-agent": deps.userAgent, ...headers },
    body: Buffer.isBuffer(body) ? body : undefined,
  };
  if (body && !Buffer.isBuffer(body)) call.upload = body;
  const http = createChannelHttp(channel, deps.http);
  await provider.authorize(call, channel, { key, now: deps.now(), http, clientHeaders });
  setChannelHeaders(call.headers, channel, key);
  return call;
}

function buildUrl({ channel, keyIndex, service }: OpenAccount, provider: ProviderAdapter, request: ObjectRequest): URL {
  const { below = "", query = {}, named } = request;
  const path = findSpecialPath(service, channel, request) ?? resolveFilesPath(service, channel);
  const url = storeUrl(provider, channel, channel.keys[keyIndex] ?? "", path);
  // The host stays that of the channel, so that an upstream cannot send the gateway elsewhere.
  if (named !== undefined) return new URL(named, url.origin);
  url.pathname += below;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** Returns the path of what is no file; undefined if the vendor has none of its own for it. */
function findSpecialPath(
  service: OpenAccount["service"],
  channel: ChannelRecord,
  { isUpload, isParts, isContainer }: ObjectRequest,
): string | undefined {
  if (isContainer === true) return resolveContainersPath(service, channel);
  if (isParts === true) return service.partsPath;
  return isUpload === true ? service.uploadPath : undefined;
}

async function readRefusal(
  answer: UpstreamAnswer,
  { channel, keyIndex }: OpenAccount,
  { now, disableKeywords }: ObjectUpstreamDeps,
): Promise<ObjectFailure> {
  const provider = requireProvider(channel);
  const { status, headers } = answer;
  const collected = await collect(answer, MAX_FAILURE_BYTES).catch(() => ({ status, headers, body: Buffer.alloc(0) }));
  const error = readFailure(provider, collected, { now: now(), keywords: disableKeywords() });
  const secrets = collectSecrets(channel, channel.keys[keyIndex] ?? "", provider.baseUrl);
  return new ObjectFailure(refusedByUpstream(maskError(error, secrets), channel, DEFAULT_REST_MS), status);
}

/** Reads a small answer of JSON; throws `upstream_invalid_response` for anything else. */
export async function readJson(answer: UpstreamAnswer): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await collect(answer, MAX_JSON_BYTES)).body.toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (cause) {
    throw new AppError("upstream_invalid_response", { cause });
  }
  throw new AppError("upstream_invalid_response");
}
