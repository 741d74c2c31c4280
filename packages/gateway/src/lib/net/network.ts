import { isIP, type LookupFunction } from "node:net";
import { Agent, Pool, ProxyAgent, type Dispatcher } from "undici";
import type { FindProxy } from "./proxy-rules.ts";

/** How connections leave this process; every part that opens some gets it. */
export interface Network {
  readonly findProxy: FindProxy;
  /** Grows when the trusted authorities change; connections of an older generation are closed. */
  readonly generation: number;
}

/** No proxy, and the authorities that Node.js trusts. */
export const DIRECT: Network = { findProxy: () => undefined, generation: 0 };

/** Which addresses a part may reach. */
export interface Guard {
  /** Refuses names by the addresses that they have; without it, every name may be reached. */
  readonly lookup?: LookupFunction | undefined;
  /** Throws for a host whose text alone is refused. */
  readonly refuse?: (host: string) => void;
}

export interface ServiceAgentSettings {
  readonly network: Network;
  readonly guard: Guard;
  readonly connectTimeoutMs?: number;
  readonly connections?: number;
}

/** Connections to any number of services. */
export interface ServiceAgent {
  /** Returns the dispatcher for the next call. */
  current(): Dispatcher;
  close(): Promise<void>;
}

const MAX_NAME_MS = 2_000;
const MAX_HEADER_BYTES = 64 * 1024;

/** Creates an agent that sends each call directly or through the proxy of its address. */
export function createServiceAgent(settings: ServiceAgentSettings): ServiceAgent {
  const { network } = settings;
  let generation = network.generation;
  let agent = openAgent(settings);
  return {
    current() {
      if (generation !== network.generation) {
        generation = network.generation;
        void agent.close();
        agent = openAgent(settings);
      }
      return agent;
    },
    close: () => agent.destroy(),
  };
}

function openAgent({ network, guard, connectTimeoutMs, connections }: ServiceAgentSettings): Agent {
  return new Agent({
    ...(connections !== undefined && { connections }),
    connect: {
      ...(guard.lookup && { lookup: guard.lookup }),
      ...(connectTimeoutMs !== undefined && { timeout: connectTimeoutMs }),
    },
    factory(origin, options) {
      const proxy = network.findProxy(new URL(origin));
      if (proxy === undefined) return new Pool(origin, options);
      return openProxyPool(proxy, { check: () => checkBehindProxy(new URL(origin), guard), connectTimeoutMs });
    },
  });
}

export interface ProxyPoolSettings {
  /** Runs before each connection; a rejection refuses it. */
  readonly check?: (() => Promise<void>) | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Resolves the name of the proxy. */
  readonly proxyLookup?: LookupFunction | undefined;
  readonly connections?: number;
}

/** Opens connections to one origin through a proxy: a tunnel for `https:`, forwarded calls for `http:`. */
export function openProxyPool(proxy: string, settings: ProxyPoolSettings): Dispatcher {
  const { check, connectTimeoutMs, proxyLookup, connections } = settings;
  return new ProxyAgent({
    uri: proxy,
    ...(connections !== undefined && { connections }),
    ...(connectTimeoutMs !== undefined && { connectTimeout: connectTimeoutMs }),
    ...(proxyLookup && { proxyTls: { lookup: proxyLookup } }),
    factory: (origin, options: Pool.Options) =>
      new Pool(origin, guardPool({ maxHeaderSize: MAX_HEADER_BYTES, ...options }, check)),
  });
}

function guardPool(options: Pool.Options, check: ProxyPoolSettings["check"]): Pool.Options {
  const { connect } = options;
  if (!check) return options;
  if (typeof connect !== "function") throw new Error("the check of a proxied address has no connection to hold back");
  const connectChecked = async (...[target, done]: Parameters<typeof connect>) => {
    try {
      await check();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    connect(target, done);
  };
  return { ...options, connect: (target, done) => void connectChecked(target, done) };
}

/**
 * Refuses what the guard refuses for direct connections. A name that only the proxy can resolve passes, because in many
 * networks no other name server knows the outside.
 */
export async function checkBehindProxy({ hostname }: URL, { refuse, lookup }: Guard): Promise<void> {
  const host = hostname.replace(/^\[|\]$/g, "");
  refuse?.(host);
  if (!lookup || isIP(host) !== 0) return;
  await Promise.race([resolveHere(host, lookup), pass(MAX_NAME_MS)]);
}

function resolveHere(host: string, lookup: LookupFunction): Promise<void> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error) => {
      if (error === null || isUnknownName(error)) resolve();
      else reject(error);
    });
  });
}

function isUnknownName(error: NodeJS.ErrnoException): boolean {
  return error.syscall === "getaddrinfo";
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
