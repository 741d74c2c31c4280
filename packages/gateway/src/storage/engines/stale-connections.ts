import type { Socket } from "node:net";

/** By then a server that merely stood still has gone on with what it was asked before. */
const GRACE_MS = 60_000;

/** Follows the connections of one database whose statements nobody limits. */
export interface StaleConnections {
  taken(connection: Socket): void;
  returned(connection: Socket): void;
  /** A question of a moment got no answer in time. */
  missed(): void;
  /** One was answered. */
  answered(): void;
}

/**
 * Finds connections that a host which vanished has left behind: TCP waits for them for a quarter of an hour. When a
 * question of a moment was missed and a later one is answered, statements that were under way by then and have not read
 * a byte a minute later are broken off. They fail, and who sent them tries again.
 */
export function trackStaleConnections(graceMs = GRACE_MS): StaleConnections {
  const inUse = new Set<Socket>();
  let hasMissed = false;
  const breakOff = (read: ReadonlyMap<Socket, number>) => {
    for (const [connection, bytes] of read)
      if (inUse.has(connection) && connection.bytesRead === bytes)
        connection.destroy(new Error("the database did not answer on this connection any more"));
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
