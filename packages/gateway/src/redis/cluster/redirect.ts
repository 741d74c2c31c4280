import type { HostPort } from "../../lib/net/redis-address.ts";

/**
 * The reason why a node did not run a call. `moved`: another node has the slot. `ask`: the slot is moving, and its keys
 * are on another node. `wait`: the slot is between two nodes, or its node is not ready.
 */
export type Redirect =
  | { readonly kind: "moved"; readonly slot: number; readonly to: HostPort }
  | { readonly kind: "ask"; readonly slot: number; readonly to: HostPort }
  | { readonly kind: "wait"; readonly reason: string };

const REDIRECT = /^(MOVED|ASK) (\d+) (.*):(\d+)$/;
const WAIT = /^(?:TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN|READONLY)\b/;

/**
 * Parses a redirect; undefined for every other answer. Redirects come before a script or a command does anything, so
 * the same call may be sent again. If Redis does not know its own address, it leaves the host empty: then the node that
 * was asked is meant.
 */
export function parseRedirect(answer: unknown, asked: HostPort | undefined): Redirect | undefined {
  if (!(answer instanceof Error) || answer.name !== "ReplyError") return undefined;
  const [, kind, slot, host, port] = REDIRECT.exec(answer.message) ?? [];
  if (kind !== undefined)
    return {
      kind: kind === "MOVED" ? "moved" : "ask",
      slot: Number(slot),
      to: { host: host === "" ? (asked?.host ?? "") : (host as string), port: Number(port) },
    };
  return WAIT.test(answer.message) ? { kind: "wait", reason: answer.message } : undefined;
}
