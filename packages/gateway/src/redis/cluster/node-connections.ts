import type { Redis } from "ioredis";
import type { HostPort } from "../../lib/net/redis-address.ts";
import { isUsable, readiness, sendAsking, sendMerged, type Answer } from "../connection.ts";
import type { Call } from "../script.ts";
import { createTurn, within } from "../turn-pipeline.ts";
import { formatNodeName } from "./topology.ts";

/** One connection to one node. */
export interface NodeConnection {
  readonly at: HostPort;
  readonly name: string;
  readonly redis: Redis;
  readonly isUsable: boolean;
  /** Why the last attempt to connect failed. */
  readonly lastError: Error | undefined;
  /** Sends the calls in one write; throws RedisUnavailable. */
  send(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** Sends one call; the calls of one event loop turn share a write. Throws the error of the call. */
  sendOne(call: Call, timeoutMs: number): Promise<unknown>;
  /** Sends one call for a slot that this node is importing. */
  asking(call: Call, timeoutMs: number): Promise<Answer>;
  ready(ms: number): Promise<boolean>;
}

/** Connections for one purpose, one to each required node. */
export interface NodeConnections {
  to(at: HostPort): NodeConnection;
  find(name: string): NodeConnection | undefined;
  /** Closes the connections to all other nodes once their calls are answered. */
  keep(names: ReadonlySet<string>): void;
  close(): void;
}

/** Longer than the timeout of any call. */
const RETIRE_MS = 20_000;

/** @param onChange called when a connection becomes usable or unusable */
export function createNodeConnections(connect: (at: HostPort) => Redis, onChange: () => void): NodeConnections {
  const open = new Map<string, NodeConnection>();
  const retiring = new Map<string, NodeJS.Timeout>();
  const retire = (name: string) => {
    open.get(name)?.redis.disconnect();
    open.delete(name);
    retiring.delete(name);
  };
  return {
    to(at) {
      const name = formatNodeName(at);
      const known = open.get(name);
      if (known) return known;
      const node = connectionTo(at, connect(at), onChange);
      open.set(name, node);
      return node;
    },
    find: (name) => open.get(name),
    keep(names) {
      for (const name of open.keys()) {
        if (names.has(name)) {
          clearTimeout(retiring.get(name));
          retiring.delete(name);
        } else if (!retiring.has(name)) retiring.set(name, setTimeout(retire, RETIRE_MS, name).unref());
      }
    },
    close() {
      for (const timer of retiring.values()) clearTimeout(timer);
      for (const name of open.keys()) retire(name);
    },
  };
}

function connectionTo(at: HostPort, redis: Redis, onChange: () => void): NodeConnection {
  let lastError: Error | undefined;
  redis.on("error", (error: Error) => {
    // This error only follows from the previous one.
    if (error.name !== "MaxRetriesPerRequestError") lastError = error;
  });
  redis.on("close", onChange);
  redis.on("ready", () => {
    lastError = undefined;
    onChange();
  });
  redis.connect().catch(() => undefined);
  return {
    at,
    name: formatNodeName(at),
    redis,
    get isUsable() {
      return isUsable(redis);
    },
    get lastError() {
      return lastError;
    },
    send: (calls, timeoutMs) => within(timeoutMs, sendMerged(redis, calls)),
    sendOne: createTurn((calls) => sendMerged(redis, calls)),
    asking: (call, timeoutMs) => within(timeoutMs, sendAsking(redis, call)),
    ready: readiness(redis),
  };
}
