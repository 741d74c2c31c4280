import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** IPv6 networks whose addresses contain an IPv4 address, and the byte at which it begins. */
const EMBEDDING = [
  // Compatible, mapped and translated (RFC 4291, RFC 2765).
  ["::/96", 12],
  ["::ffff:0:0/96", 12],
  ["::ffff:0:0:0/96", 12],
  // NAT64 (RFC 6052), and private networks for it (RFC 8215), whose prefix may have any length from /48.
  ["64:ff9b::/96", 12],
  ["64:ff9b:1::/48", 12],
  // 6to4 (RFC 3056).
  ["2002::/16", 2],
] as const;
const NETWORKS = EMBEDDING.map(([cidr, at]) => ({ network: ipaddr.IPv6.parseCIDR(cidr), at }));
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b:1::/48");
const TEREDO = ipaddr.IPv6.parseCIDR("2001::/32");
/** The interface part of ISATAP (RFC 5214), in any network. */
const ISATAP = /^0[02]005efe$/;

/**
 * Returns the address itself and every IPv4 address that it may stand for. A router on the way may translate it, so
 * each of them has to be allowed.
 */
export function addressForms(address: Address): Address[] {
  if (address.kind() === "ipv4") return [address];
  const bytes = address.toByteArray();
  const v4At = (at: number) => new ipaddr.IPv4(bytes.slice(at, at + 4));
  const forms: Address[] = [address];
  for (const { network, at } of NETWORKS) if (address.match(network)) forms.push(v4At(at));
  if (address.match(LOCAL_NAT64)) forms.push(...splitForms(bytes));
  // The server address unchanged, and the client address with all bits inverted (RFC 4380).
  if (address.match(TEREDO)) forms.push(v4At(4), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff)));
  if (ISATAP.test(Buffer.from(bytes.slice(8, 12)).toString("hex"))) forms.push(v4At(12));
  return forms;
}

/** Returns the addresses of shorter prefixes than /96, which skip byte 8 (RFC 6052, 2.2): /48, /56 and /64. */
function splitForms(bytes: readonly number[]): Address[] {
  const packed = [...bytes.slice(0, 8), ...bytes.slice(9)];
  return [6, 7, 8].map((at) => new ipaddr.IPv4(packed.slice(at, at + 4)));
}
