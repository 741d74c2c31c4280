import type { Secret } from "../secret.ts";
import { isLoopback, parseNetwork } from "./ip.ts";

/** One entry of a list of addresses that no proxy serves. */
export interface Exception {
  readonly text: string;
  matches(host: string, port: string): boolean;
}

export interface ProxySettings {
  /** Proxy of `https:` and `wss:` addresses. */
  readonly httpsProxy: Secret | undefined;
  /** Proxy of `http:` and `ws:` addresses. */
  readonly httpProxy: Secret | undefined;
  readonly noProxy: readonly Exception[];
}

/** Returns the address of the proxy that a call takes; undefined if it goes directly. */
export type FindProxy = (url: URL) => string | undefined;

const HOST = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * Parses one entry: `*`, an address, a network, a host with everything below it, or a suffix (`.example.com`,
 * `*.example.com`); all but networks with an optional port. Undefined if it is none of them.
 */
export function parseException(entry: string): Exception | undefined {
  const text = entry.toLowerCase();
  if (text === "*") return { text, matches: () => true };
  const network = parseNetwork(text);
  if (network) return { text, matches: (host) => network.contains(host) };
  const { host, port: wanted } = splitPort(text);
  const isOnPort = (port: string) => wanted === "" || wanted === port;
  const address = parseNetwork(host);
  if (address) return { text, matches: (given, port) => isOnPort(port) && address.contains(given) };
  const name = host.replace(/^\*?\./, "");
  if (!HOST.test(name)) return undefined;
  const isSuffix = name !== host;
  return {
    text,
    matches: (given, port) => isOnPort(port) && (given.endsWith(`.${name}`) || (!isSuffix && given === name)),
  };
}

function splitPort(text: string): { readonly host: string; readonly port: string } {
  const [, bracketed, bare, port = ""] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  return { host: bracketed ?? bare ?? text, port };
}

/** This machine is always reached directly, as programs in Go do it: a proxy would reach itself instead. */
export function createFindProxy({ httpsProxy, httpProxy, noProxy }: ProxySettings): FindProxy {
  if (!httpsProxy && !httpProxy) return () => undefined;
  return (url) => {
    const isSecure = url.protocol === "https:" || url.protocol === "wss:";
    const proxy = isSecure ? httpsProxy : httpProxy;
    if (!proxy) return undefined;
    const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
    if (isLoopback(host) || host.endsWith(".localhost")) return undefined;
    const port = url.port || (isSecure ? "443" : "80");
    return noProxy.some((exception) => exception.matches(host, port)) ? undefined : proxy.reveal();
  };
}
