import type { OutgoingWay } from "@fairway/wire";
import { ok, type Finding } from "./finding.ts";

const MAX_HOSTS = 12;

/** Says which servers the gateway calls through which proxy; nothing where it has none. */
export function outgoingFindings(ways: readonly OutgoingWay[]): Finding[] {
  if (ways.every(({ proxy }) => proxy === null)) return [];
  const proxies = [...new Set(ways.map(({ proxy }) => proxy))];
  return proxies.map((proxy) => {
    const hosts = [...new Set(ways.filter((way) => way.proxy === proxy).map(({ host }) => host))];
    const more = hosts.length > MAX_HOSTS ? ` and ${hosts.length - MAX_HOSTS} more` : "";
    const list = `${hosts.slice(0, MAX_HOSTS).join(", ")}${more}`;
    return { check: "outgoing", ...ok(proxy === null ? `directly: ${list}` : `through ${proxy}: ${list}`) };
  });
}
