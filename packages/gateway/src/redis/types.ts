import type { Redis } from "ioredis";
import type { Secret } from "../lib/secret.ts";
import type { Logger } from "../observability/log.ts";
import type { Answer } from "./connection.ts";
import type { Keys } from "./keys.ts";
import type { Call } from "./script.ts";
import type { WaitBudget } from "./wait-budget.ts";

/** A connection for one purpose. */
export type Connection = Redis;

/** One server of an installation's Redis. */
export interface RedisServer {
  /** `host:port` of a cluster node; "Redis" for a single server. */
  readonly name: string;
  /** Like `sendOne` of the client, for this server. */
  sendOne(call: Call, timeoutMs: number): Promise<unknown>;
}

/** Long reads on dedicated connections to all primaries of a cluster. */
export interface ClusterReads {
  sendEach(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  close(): void;
}

export interface RedisClient {
  readonly keys: Keys;
  /** Operations of a Redis Cluster only; undefined if one server has all keys. */
  readonly cluster: { openReads(purpose: string): ClusterReads } | undefined;
  /** Returns the server, or the primaries of a cluster that have slots. */
  servers(): readonly RedisServer[];
  /** Returns how long requests wait for the server of this key if they can do without it. */
  getWaitBudget(key: string): WaitBudget;
  /**
   * True while the connection for commands is usable. For a cluster: the connections to all primaries are usable, and
   * each slot has a primary.
   */
  readonly isReady: boolean;
  /** The error of the last attempt to connect. */
  readonly lastError: Error | undefined;
  /**
   * Sends the calls in one write and returns an answer for each. Throws RedisUnavailable if the connection is lost or
   * answers are missing after `timeoutMs`; the calls may have run then.
   */
  send(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** Like `send`, but the calls of an unavailable cluster node get RedisUnavailable as their answer. */
  sendEach(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** Sends one call; throws its error. All calls of one event loop turn share one write. */
  sendOne(call: Call, timeoutMs: number): Promise<unknown>;
  /** Calls `listener` now and after every reconnection; returns a function that unsubscribes it. */
  onReady(listener: () => void): () => void;
  /** Resolves when the connection is usable, or after `ms`. */
  ready(ms: number): Promise<boolean>;
  /**
   * Opens a dedicated connection for blocking reads or subscriptions, which connects at its first command. A connection
   * that receives no byte for `deadAfterMs` is replaced.
   */
  open(purpose: string, deadAfterMs?: number): Connection;
  close(): Promise<void>;
}

export interface RedisSettings {
  readonly url: Secret;
  readonly keys: Keys;
  readonly log: Logger;
  readonly name: string;
  /** How long requests wait for Redis if they can do without it; see `getWaitBudget`. */
  readonly waitMs?: number;
}
