import { RedisUnavailable, type RedisClient } from "../../../../redis/client.ts";
import { SHARDS } from "../../../../redis/keys.ts";
import { compareIds } from "../recovery/data-loss-detector.ts";
import { BOOKED, REFUND } from "../scripts.ts";
import type { StreamCharge, StreamEntry } from "./batch.ts";
import { createClusterReader } from "./cluster-reader.ts";
import { createGroupReader, type GroupReader, type ReadStream } from "./group-reader.ts";

/** Reads the charge streams for one of several settlers. */
export interface ChargeStreams {
  /** Waits up to `ms` for new charges. */
  read(ms: number): Promise<ReadEntry[]>;
  /**
   * Returns charges that were delivered to this settler and not acknowledged; after a failure it may not have received
   * them.
   */
  mine(): Promise<ReadEntry[]>;
  /** Claims charges that were delivered more than `idleMs` ago. */
  claim(idleMs: number): Promise<ReadEntry[]>;
  /** Returns the charges that are still in their streams. */
  filterPresent(charges: readonly StreamCharge[]): Promise<ReadonlySet<StreamCharge>>;
  /** Refunds double deductions to the live balances, for charges that still belong to this settler. */
  refund(undone: readonly { readonly charge: StreamCharge; readonly quota: number }[]): Promise<void>;
  /** Removes booked charges. */
  booked(charges: readonly StreamCharge[]): Promise<void>;
  /** Returns the number of charges in all streams. */
  length(): Promise<number>;
  /** Returns the newest charge of each non-empty stream. */
  newest(): Promise<ReadonlyMap<number, string>>;
  /** Returns the oldest charge of each of these streams that is not empty. */
  oldest(shards: Iterable<number>): Promise<ReadonlyMap<number, string>>;
  /** Removes settlers that died long ago. */
  prune(): Promise<void>;
  close(): void;
}

export interface ReadEntry {
  readonly shard: number;
  readonly entry: StreamEntry;
}

const GROUP = "settlers";
/**
 * High enough for one stream to fill a transaction, because all charges of a busy account are in one stream; the total
 * stays within `AT_ONCE`.
 */
const PER_STREAM = 500;
const LEAST_PER_STREAM = 64;
const AT_ONCE = 8_000;
const TIMEOUT_MS = 5_000;
const REFUND_MS = 1_000;
const GONE_MS = 3_600_000;

export interface ChargeStreamsDeps {
  readonly redis: RedisClient;
  readonly consumer: string;
  /** How long Redis retains booked charges; 0 = not at all. */
  readonly retainMs: number;
  /** Called when Redis may have delivered charges that did not arrive. */
  readonly onDoubt: () => void;
}

export function createChargeStreams(deps: ChargeStreamsDeps): ChargeStreams {
  return new RedisChargeStreams(deps);
}

const KEYS_OF = (redis: RedisClient) => Array.from({ length: SHARDS }, (_, shard) => redis.keys.charges(shard));

class RedisChargeStreams implements ChargeStreams {
  readonly #redis: RedisClient;
  readonly #consumer: string;
  readonly #reader: GroupReader;
  readonly #keys: readonly string[];
  readonly #shards: ReadonlyMap<string, number>;
  readonly #retainMs: number;
  #perStream = PER_STREAM;

  constructor({ redis, consumer, retainMs, onDoubt }: ChargeStreamsDeps) {
    this.#retainMs = retainMs;
    this.#redis = redis;
    this.#consumer = consumer;
    this.#keys = KEYS_OF(redis);
    const settings = { redis, group: GROUP, consumer, keys: this.#keys, onDoubt };
    this.#reader = (redis.cluster ? createClusterReader : createGroupReader)(settings);
    this.#shards = new Map(this.#keys.map((key, shard) => [key, shard]));
  }

  async read(ms: number): Promise<ReadEntry[]> {
    return this.#listEntries(await this.#reader.read(this.#perStream, ms));
  }

  async mine(): Promise<ReadEntry[]> {
    const entries = this.#listEntries(await this.#reader.mine(this.#perStream));
    const gone = entries.filter(({ entry: [, fields] }) => fields === null);
    const acks = gone.map(({ shard, entry: [id] }) => ({
      command: "xack",
      args: [this.#keys[shard] ?? "", GROUP, id],
    }));
    if (acks.length > 0) await this.#redis.sendEach(acks, TIMEOUT_MS);
    return entries.filter(({ entry: [, fields] }) => fields !== null);
  }

  #listEntries(streams: readonly ReadStream[]): ReadEntry[] {
    const full = streams.filter(([, entries]) => entries.length >= this.#perStream).length;
    this.#perStream = Math.max(LEAST_PER_STREAM, Math.min(PER_STREAM, Math.floor(AT_ONCE / Math.max(1, full))));
    return streams.flatMap(([key, entries]) => entries.map((entry) => ({ shard: this.#shards.get(key) ?? 0, entry })));
  }

  async claim(idleMs: number): Promise<ReadEntry[]> {
    const args = (key: string) => [key, GROUP, this.#consumer, idleMs, "0-0", "COUNT", PER_STREAM];
    const calls = this.#keys.map((key) => ({ command: "xautoclaim", args: args(key) }));
    const answers = await this.#redis.sendEach(calls, TIMEOUT_MS);
    return answers.flatMap((answer, shard) => claimed(answer).map((entry) => ({ shard, entry })));
  }

  async filterPresent(charges: readonly StreamCharge[]): Promise<ReadonlySet<StreamCharge>> {
    const calls = charges.map(({ shard, id }) => ({ command: "xrange", args: [this.#keys[shard] ?? "", id, id] }));
    const answers = await this.#redis.send(calls, TIMEOUT_MS);
    return new Set(charges.filter((_, at) => list(answers[at]).length > 0));
  }

  async refund(undone: readonly { readonly charge: StreamCharge; readonly quota: number }[]): Promise<void> {
    const { keys } = this.#redis;
    const calls = undone.map(({ charge: { shard, id, ofUser, ofToken, charge }, quota }) => {
      const { userId, tokenId } = charge.settlement.hold;
      const user = keys.user(userId);
      return {
        script: REFUND,
        keys: [user, tokenId === 0 ? user : keys.token(userId, tokenId), this.#keys[shard] ?? ""],
        args: [ofUser, ofToken, quota, GROUP, this.#consumer, id],
      };
    });
    if (calls.length > 0) await this.#redis.send(calls, REFUND_MS);
  }

  async booked(charges: readonly StreamCharge[]): Promise<void> {
    const calls = [...Map.groupBy(charges, ({ shard }) => shard)].map(([shard, some]) => ({
      script: BOOKED,
      keys: [this.#keys[shard] ?? "", this.#redis.keys.holds(shard), this.#redis.keys.retained(shard)],
      args: [
        GROUP,
        some.length,
        this.#retainMs,
        ...some.map(({ id }) => id),
        ...some.map(({ charge }) => charge.settlement.hold.requestId),
      ],
    }));
    throwFirst(await this.#redis.send(calls, TIMEOUT_MS));
  }

  async length(): Promise<number> {
    const lengths = await this.#onAll("xlen", (key) => [key]);
    throwFirst(lengths);
    return lengths.reduce<number>((sum, length) => sum + Number(length), 0);
  }

  async newest(): Promise<ReadonlyMap<number, string>> {
    return firstIds(await this.#onAll("xrevrange", (key) => [key, "+", "-", "COUNT", 1]), [...this.#keys.keys()]);
  }

  async oldest(shards: Iterable<number>): Promise<ReadonlyMap<number, string>> {
    const some = [...shards];
    const calls = some.map((shard) => ({ command: "xrange", args: [this.#keys[shard] ?? "", "-", "+", "COUNT", 1] }));
    return firstIds(calls.length === 0 ? [] : await this.#redis.send(calls, TIMEOUT_MS), some);
  }

  async prune(): Promise<void> {
    const answers = await this.#onAll("xinfo", (key) => ["CONSUMERS", key, GROUP]);
    const calls = answers.flatMap((answer, shard) =>
      idleConsumers(answer).map((name) => ({
        command: "xgroup",
        args: ["DELCONSUMER", this.#keys[shard] ?? "", GROUP, name],
      })),
    );
    if (calls.length > 0) throwFirst(await this.#redis.send(calls, TIMEOUT_MS));
  }

  close(): void {
    this.#reader.close();
  }

  #onAll(command: string, args: (key: string) => (string | number)[]): Promise<readonly unknown[]> {
    return this.#redis.send(
      this.#keys.map((key) => ({ command, args: args(key) })),
      TIMEOUT_MS,
    );
  }
}

/** Returns true if a stream whose oldest charge is `oldest` has no charge up to `id`. */
export function isPast(oldest: string | undefined, id: string): boolean {
  return oldest === undefined || compareIds(oldest, id) > 0;
}

/**
 * Parses claimed entries. A stream without a group, or on an unavailable node, has none; deleted entries come without
 * fields.
 */
function claimed(answer: unknown): StreamEntry[] {
  if (answer instanceof RedisUnavailable) return [];
  if (answer instanceof Error && answer.message.startsWith("NOGROUP")) return [];
  const [, entries] = list(answer);
  return (entries as (StreamEntry | null)[]).filter(
    (entry): entry is StreamEntry => entry !== null && entry[1] !== null,
  );
}

function firstIds(answers: readonly unknown[], shards: readonly number[]): Map<number, string> {
  const ids = new Map<number, string>();
  for (const [at, shard] of shards.entries()) {
    const [first] = list(answers[at]) as readonly StreamEntry[];
    if (first) ids.set(shard, first[0]);
  }
  return ids;
}

function idleConsumers(answer: unknown): string[] {
  if (answer instanceof Error) return [];
  return (answer as readonly (readonly unknown[])[]).flatMap((fields) => {
    const value = (name: string) => fields[fields.indexOf(name) + 1];
    return Number(value("pending")) === 0 && Number(value("idle")) > GONE_MS ? [String(value("name"))] : [];
  });
}

function list(answer: unknown): readonly unknown[] {
  if (answer instanceof Error) throw answer;
  return (answer ?? []) as readonly unknown[];
}

function throwFirst(answers: readonly unknown[]): void {
  for (const answer of answers) if (answer instanceof Error) throw answer;
}
