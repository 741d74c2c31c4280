import { setTimeout as pause } from "node:timers/promises";
import type { RedisClient } from "../../../redis/client.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import type { BudgetTerms } from "../budget.ts";
import { noteWindows, type BookedBudgets } from "../sql/sheet.ts";
import { readBudgets } from "../sql/rows.ts";
import { followCall } from "./calls.ts";

export interface FollowerDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly log: Logger;
}

const TIMEOUT_MS = 2_000;
const AT_ONCE = 500;

/** Copies states of budgets from the database to Redis, and the windows that Redis has opened to the database. */
export class BudgetFollower {
  readonly #deps: FollowerDeps;
  readonly #reading = new Map<string, Promise<void>>();
  readonly #following = new Set<Promise<void>>();

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
  }

  /** Reads budgets that Redis does not have in `epoch`; runs once at a time for each set. Rejects on failure. */
  read(budgets: readonly BudgetTerms[], epoch: string): Promise<void> {
    const ids = budgets.map(({ id }) => id);
    const name = `${epoch} ${ids.join(",")}`;
    const known = this.#reading.get(name);
    if (known) return known;
    const work = this.#readNow(ids, epoch).finally(() => this.#reading.delete(name));
    this.#reading.set(name, work);
    return work;
  }

  async #readNow(ids: readonly number[], epoch: string): Promise<void> {
    const { redis, database } = this.#deps;
    const found = await readBudgets(database, ids);
    // A budget that was just deleted refuses no request, so it counts as empty.
    const gone = ids
      .filter((id) => !found.has(id))
      .map((id) => ({ id, revision: 0, window_start: 0, used: 0, held: 0 }));
    await redis.sendOne(
      followCall(redis.keys, { epoch, budgets: [...found.values(), ...gone], ended: [] }),
      TIMEOUT_MS,
    );
  }

  /** Writes the states after a transaction under `epoch`, and removes the requests that it charged. */
  async booked({ budgets, ended }: BookedBudgets, epoch: number): Promise<void> {
    if (budgets.length + ended.length === 0) return;
    const { redis } = this.#deps;
    await redis.sendOne(followCall(redis.keys, { epoch: String(epoch), budgets, ended }), TIMEOUT_MS);
  }

  follow({ budgets, ended }: BookedBudgets): void {
    if (budgets.length + ended.length === 0) return;
    const ids = budgets.map(({ id }) => id);
    this.#inBackground(this.current(ids, ended));
  }

  /** Notes in the database that a reservation has opened windows in Redis. If that fails, the reaper does it. */
  opened(ids: readonly number[], start: number): void {
    this.#inBackground(this.noteWindows(new Map(ids.map((id) => [id, start]))));
  }

  async noteWindows(opened: ReadonlyMap<number, number>): Promise<void> {
    const { database } = this.#deps;
    await database.transaction((tx) => noteWindows(tx, database.kind, opened));
    await this.current([...opened.keys()]);
  }

  #inBackground(following: Promise<void>): void {
    const work: Promise<void> = following
      .catch((error: unknown) => this.#deps.log.warn("live budgets could not follow the database yet", { error }))
      .finally(() => this.#following.delete(work));
    this.#following.add(work);
  }

  /**
   * Writes the current states of the database and removes the requests that have `ended`; without `ids`, for all
   * budgets.
   */
  async current(ids: readonly number[] | undefined, ended: readonly string[] = []): Promise<void> {
    const { redis, database } = this.#deps;
    const epoch = await redis.sendOne({ command: "get", args: [redis.keys.budgets.epoch] }, TIMEOUT_MS);
    // Without an epoch nothing is written, and a request is removed only together with the state that includes it.
    if (typeof epoch !== "string") throw new Error("budgets are not open in Redis");
    const budgets = [...(await readBudgets(database, ids)).values()];
    for (let from = 0; from < budgets.length || from === 0; from += AT_ONCE) {
      const isLast = from + AT_ONCE >= budgets.length;
      const some = budgets.slice(from, from + AT_ONCE);
      await redis.sendOne(followCall(redis.keys, { epoch, budgets: some, ended: isLast ? ended : [] }), TIMEOUT_MS);
    }
  }

  async idle(ms: number): Promise<void> {
    const waiting = new AbortController();
    const late = pause(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#following), late]);
    waiting.abort();
  }
}
