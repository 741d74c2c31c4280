import type { Readable } from "node:stream";
import type { AppError } from "../lib/app-error.ts";
import { parseJson } from "../lib/text/json.ts";
import { setChannelHeaders } from "../providers/core/channel-headers.ts";
import { readFailure } from "../providers/core/errors/classify.ts";
import { collectSecrets, maskError } from "../providers/core/mask.ts";
import { createChannelHttp, readProxy } from "../providers/core/proxy.ts";
import { storeUrl } from "../providers/core/route-url.ts";
import type {
  ChannelRecord,
  HttpJson,
  ProviderAdapter,
  UpstreamAnswer,
  UpstreamCall,
} from "../providers/core/types.ts";
import type { UpstreamError } from "../providers/core/failed-answer.ts";
import { collect, sendCall } from "../relay/upstream/collected-answer.ts";
import { DEFAULT_REST_MS } from "../relay/selection/cooldown.ts";
import { refusedByUpstream } from "../relay/upstream/failure.ts";
import type { Upstreams } from "../relay/upstream/upstream.ts";
import type { BatchPath } from "./protocols/protocol.ts";
import { dropElements } from "./results/named-lists.ts";

/** The upstream account of a batch. */
export interface BatchAccount {
  readonly channel: ChannelRecord;
  readonly provider: ProviderAdapter;
  readonly key: string;
}

export interface BatchRequest extends BatchPath {
  readonly body?: { readonly stream: Readable; readonly size: number };
  /** The client's protocol headers. */
  readonly clientHeaders?: Readonly<Record<string, string>>;
  readonly accept?: string;
  /** Limit for the head of the answer and between two pieces of its body. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface BatchAnswer {
  readonly status: number;
  readonly json: unknown;
}

/** An upstream's refusal, with what it means. */
export class BatchRefusal extends Error {
  override readonly name = "BatchRefusal";
  readonly upstreamError: UpstreamError;
  /** The client's error. */
  readonly error: AppError;

  constructor(upstreamError: UpstreamError, error: AppError) {
    super(upstreamError.message);
    this.upstreamError = upstreamError;
    this.error = error;
  }
}

/** Calls the batch API of an upstream. */
export interface BatchUpstream {
  /** Rejects with BatchRefusal for every status but 2xx, and with another error if no answer came. */
  json(account: BatchAccount, request: BatchRequest): Promise<BatchAnswer>;
  /** The same for an answer of any length. */
  stream(account: BatchAccount, request: BatchRequest): Promise<UpstreamAnswer>;
}

export interface BatchUpstreamDeps {
  readonly upstreams: Upstreams;
  readonly http: HttpJson;
  readonly userAgent: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly disableKeywords: () => readonly string[];
}

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_FAILURE_BYTES = 64 * 1024;

export function createBatchUpstream(deps: BatchUpstreamDeps): BatchUpstream {
  const stream: BatchUpstream["stream"] = async (account, request) => {
    const call = await buildCall(account, request, deps);
    const { timeoutMs } = request;
    const answer = await sendCall(deps.upstreams, call, {
      proxy: readProxy(account.channel),
      timeouts: { headersMs: timeoutMs, idleMs: timeoutMs },
      signal: request.signal ?? new AbortController().signal,
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw await readRefusal(account, answer, deps);
  };
  return {
    stream,
    async json(account, request) {
      const signal = AbortSignal.any([
        AbortSignal.timeout(request.timeoutMs),
        ...(request.signal ? [request.signal] : []),
      ]);
      const whole = await stream(account, { ...request, signal });
      const { without } = request;
      const read = without === undefined ? whole : { ...whole, body: dropElements(whole.body, without) };
      const answer = await collect(read, MAX_ANSWER_BYTES);
      const json = parseJson(answer.body.toString("utf8"));
      return { status: answer.status, json: request.translate ? request.translate(json) : json };
    },
  };
}

async function buildCall(
  { channel, provider, key }: BatchAccount,
  { method, path, body, clientHeaders = {}, accept = "application/json" }: BatchRequest,
  deps: BatchUpstreamDeps,
): Promise<UpstreamCall> {
  const call: UpstreamCall = {
    method,
    url: storeUrl(provider, channel, key, path),
    headers: { accept, "accept-encoding": "identity", "user-agent": deps.userAgent },
    body: undefined,
  };
  if (body) {
    call.headers["content-type"] = "application/json";
    call.headers["content-length"] = String(body.size);
    call.upload = body.stream;
  }
  const http = createChannelHttp(channel, deps.http);
  await provider.authorize(call, channel, { key, now: deps.now(), http, clientHeaders });
  setChannelHeaders(call.headers, channel, key);
  return call;
}

async function readRefusal(
  { channel, provider, key }: BatchAccount,
  answer: UpstreamAnswer,
  { now, disableKeywords }: BatchUpstreamDeps,
): Promise<BatchRefusal> {
  const failed = await collect(answer, MAX_FAILURE_BYTES).catch(() => ({ ...answer, body: Buffer.alloc(0) }));
  const upstreamError = readFailure(provider, failed, { now: now(), keywords: disableKeywords() });
  const masked = maskError(upstreamError, collectSecrets(channel, key, provider.baseUrl));
  return new BatchRefusal(masked, refusedByUpstream(masked, channel, DEFAULT_REST_MS).error);
}
