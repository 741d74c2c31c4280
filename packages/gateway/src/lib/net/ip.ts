import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** One address or CIDR network. */
export interface Network {
  /** Returns false for texts that are not addresses. IPv4-mapped IPv6 counts as IPv4. */
  contains(address: string): boolean;
}

export interface AllowList {
  /**
   * Undefined = the text is blank, so there is no restriction. Empty = no line could be parsed, so everything is
   * denied.
   */
  readonly networks: readonly Network[] | undefined;
  /** Lines that are neither an address nor a network. */
  readonly invalid: readonly string[];
}

/** Parses one address or network (`10.0.0.0/8`, `2001:db8::1`); undefined if it is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [head = "", bits, ...rest] = text.trim().split("/");
  const base = parseAddress(head);
  if (!base || rest.length > 0) return undefined;
  const width = base.kind() === "ipv4" ? 32 : 128;
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return undefined;
  const isMapped = base.kind() === "ipv4" && head.includes(":");
  const prefix = bits === undefined ? width : Number(bits) - (isMapped ? 96 : 0);
  if (prefix < 0 || prefix > width) return undefined;
  return {
    contains: (address) => {
      const parsed = parseAddress(address);
      return parsed !== undefined && parsed.kind() === base.kind() && parsed.match(base, prefix);
    },
  };
}

/** Parses one entry per line; blank lines, spaces and trailing commas do not matter. */
export function parseAllowList(text: string | null | undefined): AllowList {
  const lines = allowListLines(text);
  if (lines.length === 0) return { networks: undefined, invalid: [] };
  const networks: Network[] = [];
  const invalid: string[] = [];
  for (const line of lines) {
    const network = parseNetwork(line);
    if (network) networks.push(network);
    else invalid.push(line);
  }
  return { networks, invalid };
}

/** Returns the entries of an allow list as they are stored: trimmed, without trailing commas and blank lines. */
export function allowListLines(text: string | null | undefined): string[] {
  return (text ?? "")
    .split("\n")
    .map((line) => line.trim().replace(/[,\s]+$/, ""))
    .filter((line) => line !== "");
}

/**
 * Returns the plain form of an address: IPv4-mapped IPv6 as IPv4, without a zone; unreadable text is returned
 * unchanged.
 */
export function plainAddress(text: string): string {
  return parseAddress(text)?.toString() ?? text;
}

/** A cache for peers, which repeat: parsing an address costs more than everything else that is done with it. */
const plainPeers = new Map<string, string>();
const MAX_PEERS = 1_024;

function knownPlain(peer: string): string {
  const known = plainPeers.get(peer);
  if (known !== undefined) return known;
  const plain = plainAddress(peer);
  if (plainPeers.size >= MAX_PEERS) plainPeers.clear();
  plainPeers.set(peer, plain);
  return plain;
}

/**
 * Returns the address of the client: the peer or, if that is a trusted proxy, the right-most hop of `X-Forwarded-For`
 * that is not a trusted proxy. Headers of other peers are ignored.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trustedProxies: readonly Network[],
): string {
  let client = knownPlain(peer);
  if (trustedProxies.length === 0) return client;
  const isTrusted = (address: string) => trustedProxies.some((network) => network.contains(address));
  const hops = (forwardedFor ?? "").split(",").map((hop) => hop.trim());
  while (isTrusted(client)) {
    const hop = hops.pop();
    if (hop === undefined || hop === "" || !parseAddress(withoutPort(hop))) return client;
    client = plainAddress(withoutPort(hop));
  }
  return client;
}

const NETWORK_BITS = 64;

/**
 * Returns the unit that limits by address count: an IPv4 address, or the /64 network of an IPv6 address, which belongs
 * to one customer as a whole.
 */
export function countedAddress(address: string): string {
  const parsed = address.includes(":") ? parseAddress(address) : undefined;
  if (parsed?.kind() !== "ipv6") return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${NETWORK_BITS}`).toString()}/${NETWORK_BITS}`;
}

/** Returns true for addresses that only this machine can reach; the only loopback host name is `localhost`. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || parseAddress(host)?.range() === "loopback";
}

function withoutPort(hop: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1];
  if (bracketed !== undefined) return bracketed;
  return /^\d+\.\d+\.\d+\.\d+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

function parseAddress(text: string): Address | undefined {
  const plain = text.trim();
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain);
  const [address = ""] = plain.split("%");
  if (!ipaddr.IPv6.isValid(address)) return undefined;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed;
}
