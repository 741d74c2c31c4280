import { parseJson } from "../lib/text/json.ts";
import { setChannelHeaders } from "../providers/core/channel-headers.ts";
import { createChannelHttp, readProxy } from "../providers/core/proxy.ts";
import { plainUrl } from "../providers/core/route-url.ts";
import { providerByType } from "../providers/registry.ts";
import type { ChannelRecord, HttpJson, UpstreamCall } from "../providers/core/types.ts";
import { collect, sendCall } from "../relay/upstream/collected-answer.ts";
import type { Upstreams } from "../relay/upstream/upstream.ts";

export interface TaskRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: Buffer;
  /** Further headers, such as those of a trace. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface TaskAnswer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
}

/** Calls a task channel with the channel's credentials. Rejects when no answer comes. */
export type TaskUpstream = (channel: ChannelRecord, request: TaskRequest) => Promise<TaskAnswer>;

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface TaskUpstreamDeps {
  readonly upstreams: Upstreams;
  readonly http: HttpJson;
  readonly userAgent: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export function createTaskUpstream(deps: TaskUpstreamDeps): TaskUpstream {
  return async (channel, { method, path, body, headers, timeoutMs }) => {
    const provider = providerByType(channel.type);
    const call: UpstreamCall = {
      method,
      url: plainUrl(provider, channel, path),
      headers: { "content-type": "application/json", accept: "application/json", "user-agent": deps.userAgent },
      body,
    };
    const key = channel.keys[channel.usableKeys?.[0] ?? 0] ?? "";
    await provider?.authorize(call, channel, {
      key,
      now: deps.now(),
      http: createChannelHttp(channel, deps.http),
      clientHeaders: {},
    });
    setChannelHeaders(call.headers, channel, key);
    Object.assign(call.headers, headers);
    const proxy = readProxy(channel);
    const timeouts = { headersMs: timeoutMs, idleMs: timeoutMs };
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await collect(await sendCall(deps.upstreams, call, { proxy, timeouts, signal }), MAX_ANSWER_BYTES);
    const text = answer.body.toString("utf8");
    return { status: answer.status, text, json: parseJson(text) };
  };
}
