import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Network } from "../lib/net/ip.ts";
import { countedAddress, plainAddress } from "../lib/net/ip.ts";

export interface ConnectionLimit {
  /** Open connections of one address; 0 = no limit. */
  readonly most: number;
  readonly trustedProxies: readonly Network[];
}

/**
 * Closes connections of an address that already has its share; trusted proxies are exempt, since they carry those of
 * all clients.
 */
export function limitConnections(server: Server, { most, trustedProxies }: ConnectionLimit): void {
  if (most === 0) return;
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const peer = plainAddress(socket.remoteAddress ?? "");
    if (trustedProxies.some((network) => network.contains(peer))) return;
    const address = countedAddress(peer);
    const count = (open.get(address) ?? 0) + 1;
    if (count > most) return void socket.destroy();
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

/**
 * True for requests that two servers in a row may understand differently: those of a version before 1.0, which has no
 * headers, and those with more than one Host.
 */
export function isAmbiguous({ httpVersionMajor, rawHeaders }: IncomingMessage): boolean {
  if (httpVersionMajor < 1) return true;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}
