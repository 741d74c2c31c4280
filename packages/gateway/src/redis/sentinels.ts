import { createConnection, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { connect as createTlsConnection } from "node:tls";
import { Redis } from "ioredis";
import type { HostPort, SentinelAddress } from "../lib/net/redis-address.ts";
import type { SocketSource } from "./connector.ts";

/** Thrown if the sentinels do not name the primary; the message is for the operator. */
export class SentinelError extends Error {
  override readonly name = "SentinelError";
  /** True if waiting does not help, but another configuration does. */
  readonly isMistake: boolean;

  constructor(message: string, isMistake: boolean, cause?: unknown) {
    super(message, { cause });
    this.isMistake = isMistake;
  }
}

/** Servers that monitor a primary and its replicas, and name the current primary. */
export interface Sentinels extends SocketSource {
  /**
   * Opens a connection to the primary, which is destroyed when the sentinels name another one. Throws SentinelError.
   */
  connect(): Promise<{ readonly at: HostPort; readonly socket: Socket }>;
  close(): void;
}

interface Word {
  readonly at: HostPort | undefined;
  /** Increases with every failover: a sentinel that was disconnected names the old primary with a lower number. */
  readonly epoch: number;
}

const CONNECT_MS = 2_000;
const ANSWER_MS = 2_000;
/** Longest wait for a sentinel that hangs after another one has answered. */
const GRACE_MS = 200;
const LONGEST_RECONNECT_MS = 1_000;
const SWITCHED = "+switch-master";

export function createSentinels(address: SentinelAddress): Sentinels {
  return new AskedSentinels(address);
}

class AskedSentinels implements Sentinels {
  readonly #address: SentinelAddress;
  readonly #open = new Map<Socket, HostPort>();
  #watchers: readonly Redis[] | undefined;
  /** The running query, shared by all connections that are opened at once. */
  #asking: Promise<HostPort> | undefined;
  #isClosed = false;

  constructor(address: SentinelAddress) {
    this.#address = address;
  }

  async connect(): Promise<{ at: HostPort; socket: Socket }> {
    const at = await this.#primary();
    if (!this.#isClosed) this.#watchers ??= this.#watch();
    const socket = this.#address.isTls ? createTlsConnection({ ...at }) : createConnection({ ...at });
    this.#open.set(socket, at);
    socket.once("close", () => this.#open.delete(socket));
    return { at, socket };
  }

  /** Refuses replicas: a sentinel that was disconnected may name a server that has become a replica. */
  findRoleRefusal(role: string): string | undefined {
    return role === "master" ? undefined : "its sentinels name a server that is a read-only replica";
  }

  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers ?? []) watcher.disconnect();
  }

  #primary(): Promise<HostPort> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  /** Queries all sentinels at once; the answer with the latest failover counts. */
  async #ask(): Promise<HostPort> {
    const words: Word[] = [];
    const failures = new Map<HostPort, Error>();
    const first = Promise.withResolvers<void>();
    const all = Promise.all(
      this.#address.hosts.map(async (host) => {
        try {
          const word = await this.#askOne(host);
          words.push(word);
          if (word.at) first.resolve();
        } catch (error) {
          failures.set(host, error as Error);
        }
      }),
    );
    const soon = first.promise.then(() => pause(GRACE_MS, undefined, { ref: false }));
    await Promise.race([all, soon]);
    const [best] = words.filter(({ at }) => at).sort((a, b) => b.epoch - a.epoch);
    if (best?.at) return best.at;
    throw this.#failure(words.length > 0, failures);
  }

  async #askOne(host: HostPort): Promise<Word> {
    const { master } = this.#address;
    let failure: Error | undefined;
    const redis = this.#sentinel(host, () => null);
    redis.on("error", (error: Error) => (failure = error));
    try {
      await redis.connect();
      const [named, described] = await Promise.all([
        redis.call("sentinel", "get-master-addr-by-name", master),
        // Some users may not run this; a sentinel that does not know the group has already reported that.
        redis.call("sentinel", "master", master).catch(() => []),
      ]);
      return { at: parseAddress(named), epoch: parseEpoch(described) };
    } catch (error) {
      throw failure ?? error;
    } finally {
      redis.disconnect();
    }
  }

  #sentinel({ host, port }: HostPort, retryStrategy: (times: number) => number | null): Redis {
    const { sentinel, isTls } = this.#address;
    return new Redis({
      host,
      port,
      ...sentinel,
      ...(isTls && { tls: {} }),
      lazyConnect: true,
      enableReadyCheck: false,
      disableClientInfo: true,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_MS,
      commandTimeout: ANSWER_MS,
      retryStrategy,
    });
  }

  #failure(haveAnswered: boolean, failures: ReadonlyMap<HostPort, Error>): SentinelError {
    const { hosts, master, sentinel } = this.#address;
    if (haveAnswered)
      return new SentinelError(`its sentinels know no primary ${JSON.stringify(master)}: correct master=`, true);
    const refused = [...failures.values()].find(({ message }) => /NOAUTH|WRONGPASS|NOPERM/.test(message));
    if (refused) {
      const cure = sentinel.password === undefined ? "add sentinel_password=" : "correct sentinel_password=";
      return new SentinelError(`its sentinels refuse the user name or password: ${cure}`, true, refused);
    }
    const reasons = hosts.map((host) => `${host.host}:${host.port} ${failures.get(host)?.message}`);
    return new SentinelError(`no sentinel answers: ${reasons.join(", ")}`, false);
  }

  /**
   * Subscribes to failover messages of all sentinels, because a primary that hangs does not report its own failover.
   */
  #watch(): Redis[] {
    return this.#address.hosts.map((host) => {
      const redis = this.#sentinel(host, (times) => Math.min(50 * 2 ** times, LONGEST_RECONNECT_MS));
      const check = () => void this.#leaveOthers();
      redis.on("error", () => {
        // The connection is retried; the request for the primary reports that no sentinel answers.
      });
      redis.on("message", (_channel: string, text: string) => {
        if (text.split(" ")[0] === this.#address.master) check();
      });
      redis.on("ready", () => void redis.subscribe(SWITCHED).then(check, () => redis.disconnect(true)));
      redis.connect().catch(() => undefined);
      return redis;
    });
  }

  /** Never rejects. Replaces connections to a server that is no longer the primary. */
  async #leaveOthers(): Promise<void> {
    try {
      const primary = await this.#primary();
      for (const [socket, at] of this.#open)
        if (at.host !== primary.host || at.port !== primary.port)
          socket.destroy(new Error("the sentinels name another primary"));
    } catch {
      // No better server is known than the current connections.
    }
  }
}

function parseAddress(answer: unknown): HostPort | undefined {
  if (!Array.isArray(answer)) return undefined;
  return { host: String(answer[0]), port: Number(answer[1]) };
}

function parseEpoch(answer: unknown): number {
  const fields = Array.isArray(answer) ? answer : [];
  return Number(fields[fields.indexOf("config-epoch") + 1]) || 0;
}
