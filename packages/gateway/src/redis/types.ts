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
  /** `host:port` of a node of a cluster; "Redis" where there is one server. */
  readonly name: string;
  /** As `one` of the client, to this server. */
  sendOne(call: Call, timeoutMs: number): Promise<unknown>;
}

/** Reads that may be long, on connections of their own to all primaries of a cluster. */
export interface ClusterReads {
  sendEach(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  close(): void;
}

export interface RedisClient {
  readonly keys: Keys;
  /** What only a Redis Cluster has; undefined where one server has all keys. */
  readonly cluster: { openReads(purpose: string): ClusterReads } | undefined;
  /** The server, or the primaries of a cluster that have slots. */
  servers(): readonly RedisServer[];
  /** How long requests wait for the server of this key when they can do without it. */
  getWaitBudget(key: string): WaitBudget;
  /** True while the connection for commands is usable; of a cluster those to all primaries, and each slot has one. */
  readonly isReady: boolean;
  /** Why the last attempt to connect failed. */
  readonly lastError: Error | undefined;
  /**
   * Sends the calls in one write and answers each by itself. Throws RedisUnavailable when the connection is lost or
   * when answers are missing after `timeoutMs`; the calls may have run then.
   */
  send(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** Like `send`, but a node of a cluster that is not there answers its own calls with RedisUnavailable. */
  sendEach(calls: readonly Call[], timeoutMs: number): Promise<readonly Answer[]>;
  /** One call; throws its error. All calls of one event loop turn share one write. */
  sendOne(call: Call, timeoutMs: number): Promise<unknown>;
  /** Calls back now and after every reconnection; returns a function that stops it. */
  onReady(listener: () => void): () => void;
  /** Resolves when the connection is usable, or after `ms`. */
  ready(ms: number): Promise<boolean>;
  /**
   * A connection of its own, for blocking reads or subscriptions. It connects at its first command. One that gets no
   * byte for `deadAfterMs` is replaced.
   */
  open(purpose: string, deadAfterMs?: number): Connection;
  close(): Promise<void>;
}

export interface RedisSettings {
  readonly url: Secret;
  readonly keys: Keys;
  readonly log: Logger;
  readonly name: string;
  /** How long requests wait for Redis when they can do without it; see `getWaitBudget`. */
  readonly waitMs?: number;
}
