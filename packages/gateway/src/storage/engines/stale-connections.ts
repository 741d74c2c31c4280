import type { Socket } from "node:net";

/** Long enough for a paused server to answer earlier statements. */
const GRACE_MS = 60_000;

/** Tracks connections of one database that run statements without a time limit. */
export interface StaleConnections {
  taken(connection: Socket): void;
  returned(connection: Socket): void;
  /** Call when a statement with a time limit was not answered. */
  missed(): void;
  /** Call when a statement with a time limit was answered. */
  answered(): void;
}

/**
 * Finds dead connections to a lost host, which TCP retains for a quarter of an hour. If a limited statement timed out
 * and a later one is answered, connections that were in use at the timeout and have not received a byte a minute later
 * are destroyed. Their statements fail, and the callers retry.
 */
export function trackStaleConnections(graceMs = GRACE_MS): StaleConnections {
  const inUse = new Set<Socket>();
  let hasMissed = false;
  const breakOff = (read: ReadonlyMap<Socket, number>) => {
    for (const [connection, bytes] of read)
      if (inUse.has(connection) && connection.bytesRead === bytes)
        connection.destroy(new Error("the database no longer answered on this connection"));
  };
  return {
    taken(connection) {
      inUse.add(connection);
    },
    returned(connection) {
      inUse.delete(connection);
    },
    missed() {
      hasMissed = true;
    },
    answered() {
      if (!hasMissed) return;
      hasMissed = false;
      const read = new Map(Array.from(inUse, (connection) => [connection, connection.bytesRead]));
      setTimeout(breakOff, graceMs, read).unref();
    },
  };
}
