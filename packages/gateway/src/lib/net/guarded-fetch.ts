import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { request } from "undici";
import { AppError } from "../app-error.ts";
import { addressForms } from "./embedded-address.ts";
import { createServiceAgent, DIRECT, type Network } from "./network.ts";
import { isForbiddenHost } from "./outbound.ts";

export interface GuardedCall {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A `host:port` that may have any address, because the operator named it. */
  readonly trustedHost?: string | undefined;
  readonly maxBytes?: number;
  /** Total time including the body; default: 30 seconds. */
  readonly totalMs?: number;
  readonly signal?: AbortSignal;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Throws `file_fetch_failed` when a limit is exceeded. */
  readonly body: AsyncIterable<Buffer>;
}

/**
 * Fetches addresses that clients or upstreams name. Only public addresses are reached, whatever a name resolves to and
 * wherever a redirect leads. Throws `unsafe_url`, and `file_fetch_failed` for everything else, so that the difference
 * reveals nothing about other networks.
 */
export interface GuardedFetcher {
  fetch(call: GuardedCall): Promise<GuardedAnswer>;
  close(): Promise<void>;
}

export type Resolve = (name: string, done: (error: Error | null, addresses: readonly string[]) => void) => void;

export interface GuardedFetcherDeps {
  readonly network?: Network;
  /** Resolves all addresses of a name; default: the system's resolver. */
  readonly resolve?: Resolve;
}

const MAX_BYTES = 20 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const CONNECT_MS = 10_000;
const TOTAL_MS = 30_000;
const PORTS: ReadonlySet<string> = new Set(["", "80", "443"]);
const GLOBAL = ipaddr.IPv6.parseCIDR("2000::/3");
const FORBIDDEN_NAMES =
  /^(localhost|metadata|metadata\.google\.internal|instance-data)$|\.(localhost|local|internal|cluster\.local)$/i;

export function createGuardedFetcher(deps: GuardedFetcherDeps = {}): GuardedFetcher {
  const { network = DIRECT, resolve = systemResolve } = deps;
  const lookup = publicOnly(resolve);
  const guarded = createServiceAgent({ network, guard: { lookup }, connectTimeoutMs: CONNECT_MS });
  const open = createServiceAgent({ network, guard: {}, connectTimeoutMs: CONNECT_MS });

  const once = async (url: URL, call: GuardedCall, signal: AbortSignal) => {
    const isTrusted = call.trustedHost !== undefined && url.host === call.trustedHost;
    if (!isTrusted) checkUrl(url);
    const isPinned = !isTrusted && network.findProxy(url) !== undefined;
    return request(isPinned ? await pinAddress(url, lookup) : url, {
      method: call.method ?? "GET",
      headers: { "user-agent": "fairway", ...(isPinned && { host: url.host }), ...call.headers },
      ...(call.body === undefined ? {} : { body: call.body }),
      dispatcher: (isTrusted ? open : guarded).current(),
      headersTimeout: TOTAL_MS,
      bodyTimeout: TOTAL_MS,
      signal,
    });
  };

  return {
    async fetch(call) {
      const total = AbortSignal.timeout(call.totalMs ?? TOTAL_MS);
      const signal = call.signal ? AbortSignal.any([call.signal, total]) : total;
      let url = parse(call.url);
      for (let redirects = 0; ; redirects++) {
        const answer = await once(url, call, signal).catch((cause: unknown) => {
          throw cause instanceof AppError ? cause : failed(cause);
        });
        const next = answer.headers["location"];
        const isRedirect = answer.statusCode >= 300 && answer.statusCode < 400 && typeof next === "string";
        if (!isRedirect) {
          const headers = answer.headers as Record<string, string>;
          return { status: answer.statusCode, headers, body: limited(answer.body, call.maxBytes ?? MAX_BYTES) };
        }
        answer.body.on("error", () => undefined).destroy();
        if (redirects === MAX_REDIRECTS) throw failed(new Error("too many redirects"));
        url = parse(new URL(next, url).href);
      }
    },
    async close() {
      await Promise.all([guarded.close(), open.close()]);
    },
  };
}

/**
 * Returns the URL with a checked address instead of the name. A proxy gets this, because it would resolve the name
 * again, perhaps to another address. Rejects if the name has an address that is not public, or none.
 */
export async function pinAddress(url: URL, lookup: LookupFunction): Promise<URL> {
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) return url;
  const address = await new Promise<string>((found, failed) => {
    lookup(url.hostname, {}, (error, first) => {
      if (error) failed(error);
      else found(typeof first === "string" ? first : (first[0]?.address ?? ""));
    });
  });
  const pinned = new URL(url);
  pinned.hostname = isIP(address) === 6 ? `[${address}]` : address;
  return pinned;
}

/** Returns false for every address that is not on the public internet, in any spelling. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (isForbiddenHost(address.toString())) return false;
  if (address.kind() === "ipv6" && !address.match(GLOBAL)) return false;
  // All public IPv6 addresses are in that range; some contain an IPv4 address, which has to be public too.
  return addressForms(address).every((form) => form.range() === "unicast");
}

function parse(text: string): URL {
  if (!URL.canParse(text)) throw new AppError("unsafe_url");
  return new URL(text);
}

/** Refuses a URL whose text alone shows a non-public address. Throws `unsafe_url`. */
export function refuseUnsafeUrl(text: string): void {
  checkUrl(parse(text));
}

function checkUrl(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (!isWeb || url.username !== "" || url.password !== "" || !PORTS.has(url.port) || FORBIDDEN_NAMES.test(host))
    throw new AppError("unsafe_url");
  if (ipaddr.isValid(host) && !isPublicAddress(host)) throw new AppError("unsafe_url");
}

/** Returns a lookup that connects only to the checked address. */
export function publicOnly(resolve: Resolve = systemResolve): LookupFunction {
  return (name, options, callback) => {
    resolve(name, (error, addresses) => {
      if (error) return callback(error, "", 0);
      if (addresses.length === 0 || !addresses.every(isPublicAddress))
        return callback(new Error("the address is not allowed"), "", 0);
      const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      const [first] = found;
      if (options.all) (callback as (error: null, all: typeof found) => void)(null, found);
      else callback(null, first?.address ?? "", first?.family ?? 4);
    });
  };
}

const systemResolve: Resolve = (name, done) =>
  lookup(name, { all: true, verbatim: true }, (error, found) =>
    done(
      error,
      (found ?? []).map(({ address }) => address),
    ),
  );

async function* limited(body: AsyncIterable<unknown>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += (chunk as Buffer).length;
      if (size > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
      yield chunk as Buffer;
    }
  } catch (cause) {
    throw failed(cause);
  }
}

function failed(cause: unknown): AppError {
  return new AppError("file_fetch_failed", { cause });
}
