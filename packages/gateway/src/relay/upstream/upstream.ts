import type { Agent } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import { Pool, type Dispatcher } from "undici";
import { AppError } from "../../lib/app-error.ts";
import { checkBehindProxy, DIRECT, openProxyPool, type Guard, type Network } from "../../lib/net/network.ts";
import { guardedLookup, isForbiddenHost } from "../../lib/net/outbound.ts";
import { isPublicAddress, publicOnly } from "../../lib/net/guarded-fetch.ts";
import { parseJson } from "../../lib/text/json.ts";
import type { HttpJson, UpstreamCall } from "../../providers/core/types.ts";
import { TunnelAgent } from "./tunnel.ts";

export interface UpstreamSettings {
  readonly network?: Network;
  readonly connectTimeoutMs: number;
  readonly keepAliveMs: number;
  /** Refuses addresses that are not on the public internet, whatever a name resolves to; a proxy decides for itself. */
  readonly isPublicOnly?: boolean;
  /** Allows calls to link-local addresses, where clouds serve the credentials of the machine. */
  readonly allowsLinkLocal?: boolean;
}

export interface UpstreamTimeouts {
  /** Timeout until the status line; 0 = none. */
  readonly headersMs: number;
  /** Timeout between two pieces of the body; 0 = none. */
  readonly idleMs: number;
}

export interface SocketOptions {
  readonly agent?: Agent;
  readonly lookup?: LookupFunction;
}

/** One connection pool per origin and proxy; redirects are never followed. */
export interface Upstreams {
  dispatch(
    call: UpstreamCall,
    proxy: string | undefined,
    timeouts: UpstreamTimeouts,
    handler: Dispatcher.DispatchHandler,
  ): void;
  /**
   * How a WebSocket reaches an upstream: through the same proxy and under the same rules. Throws if that is impossible.
   */
  socketOptions(url: URL, proxy: string | undefined): SocketOptions;
  /** True for a host that no call may reach; names pass, except those of metadata services. */
  refusesHost(hostname: string, isProxied: boolean): boolean;
  /** Small JSON calls of providers (balances, model lists, token exchanges): 15 s, 4 MiB. */
  readonly json: HttpJson;
  close(): Promise<void>;
}

const MAX_POOLS = 1024;
const MAX_PROXIED = 4096;
const JSON_TIMEOUT_MS = 15_000;
const JSON_LIMIT = 4 * 1024 * 1024;

export function createUpstreams(settings: UpstreamSettings): Upstreams {
  const { network = DIRECT } = settings;
  const pools = new Map<string, Dispatcher>();
  let generation = network.generation;

  const poolFor = (origin: string, own: string | undefined): Dispatcher => {
    if (generation !== network.generation) {
      generation = network.generation;
      while (pools.size > 0) evictOldest(pools);
    }
    const name = own === undefined ? origin : `${own} ${origin}`;
    const known = pools.get(name);
    if (known) return known;
    if (pools.size >= MAX_POOLS) evictOldest(pools);
    const pool = own === undefined ? openPool(origin, network, settings) : ownProxyPool(own, origin, settings);
    pools.set(name, pool);
    return pool;
  };

  return {
    dispatch(call, proxy, timeouts, handler) {
      // The members of a URL are computed at each read.
      const { origin, pathname, search } = call.url;
      poolFor(origin, proxy).dispatch(
        {
          origin,
          path: pathname + search,
          method: call.method,
          headers: call.headers,
          body: call.upload ?? call.body ?? null,
          headersTimeout: timeouts.headersMs,
          bodyTimeout: timeouts.idleMs,
        },
        handler,
      );
    },
    socketOptions(url, proxy) {
      if (proxy !== undefined) {
        refuseProxied(proxy, url.hostname, settings);
        const timeoutMs = settings.connectTimeoutMs;
        return { agent: new TunnelAgent(proxy, { isSecure: isSecure(url), timeoutMs, ...createLookup(settings) }) };
      }
      refuseAddress(url.hostname, settings);
      const shared = network.findProxy(url);
      if (shared === undefined) return createLookup(settings);
      const check = () => checkBehindProxy(url, createGuard(settings));
      return {
        agent: new TunnelAgent(shared, { isSecure: isSecure(url), timeoutMs: settings.connectTimeoutMs, check }),
      };
    },
    refusesHost: (hostname, isProxied) =>
      findRefusal(hostname, isProxied ? beyondProxy(settings) : settings) !== undefined,
    json: async (call) => requestJson(poolFor(new URL(call.url).origin, call.proxy), call),
    async close() {
      const all = [...pools.values()];
      pools.clear();
      await Promise.all(all.map((pool) => pool.destroy()));
    },
  };
}

/** Opens connections without a proxy of the channel: directly, or through the proxy of the process. */
function openPool(origin: string, network: Network, settings: UpstreamSettings): Dispatcher {
  const url = new URL(origin);
  const proxy = network.findProxy(url);
  if (proxy === undefined) return directPool(origin, settings);
  const check = () => checkBehindProxy(url, createGuard(settings));
  return openProxyPool(proxy, { check, connectTimeoutMs: settings.connectTimeoutMs, connections: MAX_PROXIED });
}

function createGuard(settings: UpstreamSettings): Guard {
  return {
    ...createLookup(settings),
    refuse(host) {
      const refusal = findRefusal(host, settings);
      if (refusal) throw refusal;
    },
  };
}

/** Unlimited connections: a stream occupies one for minutes, and queueing behind it would stall others. */
function directPool(origin: string, settings: UpstreamSettings): Dispatcher {
  return new Pool(origin, {
    connections: null,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: settings.keepAliveMs,
    keepAliveMaxTimeout: 10 * settings.keepAliveMs,
    connect: createConnector(origin, settings),
    maxHeaderSize: 64 * 1024,
  });
}

type Connect = NonNullable<Pool.Options["connect"]>;

function createConnector(origin: string, settings: UpstreamSettings): Connect {
  const refusal = findRefusal(new URL(origin).hostname, settings);
  if (refusal) return (_options, done) => done(refusal, null);
  return { timeout: settings.connectTimeoutMs, ...createLookup(settings) };
}

/** Returns a lookup that refuses addresses outside the allowed networks. */
function createLookup({ isPublicOnly, allowsLinkLocal }: UpstreamSettings): { readonly lookup?: LookupFunction } {
  if (isPublicOnly) return { lookup: publicOnly() };
  return allowsLinkLocal ? {} : { lookup: guardedLookup };
}

function refuseAddress(hostname: string, settings: UpstreamSettings): void {
  const cause = findRefusal(hostname, settings);
  if (cause) throw new AppError("upstream_connect_failed", { cause });
}

/** A numeric address is never looked up, so it is checked here. */
function findRefusal(hostname: string, { isPublicOnly, allowsLinkLocal }: UpstreamSettings): Error | undefined {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (!allowsLinkLocal && isForbiddenHost(host)) return new Error(`the address ${host} is not allowed`);
  const isPrivate = isPublicOnly && isIP(host) !== 0 && !isPublicAddress(host);
  return isPrivate ? new Error("upstreams in private networks are blocked") : undefined;
}

/** Returns the settings behind a proxy: the proxy decides what is private, but metadata services stay refused. */
function beyondProxy(settings: UpstreamSettings): UpstreamSettings {
  return { ...settings, isPublicOnly: false };
}

function refuseProxied(proxy: string, hostname: string, settings: UpstreamSettings): void {
  refuseAddress(new URL(proxy).hostname, settings);
  refuseAddress(hostname, beyondProxy(settings));
}

function ownProxyPool(proxy: string, origin: string, settings: UpstreamSettings): Dispatcher {
  refuseProxied(proxy, new URL(origin).hostname, settings);
  const { connectTimeoutMs } = settings;
  const { lookup: proxyLookup } = createLookup(settings);
  return openProxyPool(proxy, { connectTimeoutMs, proxyLookup, connections: MAX_PROXIED });
}

function isSecure({ protocol }: URL): boolean {
  return protocol === "wss:" || protocol === "https:";
}

function evictOldest(pools: Map<string, Dispatcher>): void {
  const oldest = pools.keys().next().value;
  if (oldest === undefined) return;
  const pool = pools.get(oldest);
  pools.delete(oldest);
  void pool?.close();
}

async function requestJson(pool: Dispatcher, call: Parameters<HttpJson>[0]): ReturnType<HttpJson> {
  const url = new URL(call.url);
  const answer = await pool.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: call.method,
    headers: { ...call.headers },
    body: call.body ?? null,
    headersTimeout: JSON_TIMEOUT_MS,
    bodyTimeout: JSON_TIMEOUT_MS,
    signal: AbortSignal.timeout(JSON_TIMEOUT_MS),
  });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    const part = chunk as Buffer;
    size += part.length;
    if (size > JSON_LIMIT) throw new Error(`the answer exceeds ${JSON_LIMIT} bytes`);
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString("utf8");
  return { status: answer.statusCode, json: parseJson(text), text };
}
