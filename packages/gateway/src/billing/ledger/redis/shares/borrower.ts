import { setTimeout as pause } from "node:timers/promises";
import { createBatcher } from "../../../../lib/async/batcher.ts";
import type { RawDatabase } from "../../../../storage/engines/raw.ts";
import type { Quota } from "../../../money/quota.ts";
import { createLeaseTime } from "../../../reservations/lease-time.ts";
import type { Hold, HoldRefusal, HoldRequest } from "../../ledger.ts";
import { readAnswer } from "./answers.ts";
import { readKeepers } from "./keepers.ts";
import { askForMore, deleteShares, insertShares, NOTHING, readAnswers, withdraw } from "./share-rows.ts";

/** `alone`: no replica has Redis, so the database decides. `late`: one has it, and does not answer. */
export type Borrowed = Pick<Hold, "amount"> | HoldRefusal | "alone" | "late";

/** Asks a replica that has Redis to reserve there. */
export interface Borrower {
  /** Rejects when the database does not answer. */
  ask(request: HoldRequest): Promise<Borrowed>;
  /** `alone` also for a reservation that is no share. */
  askForMore(hold: Hold, amount: Quota): Promise<Borrowed>;
}

const BATCH = 256;
const STEP_MS = 8;
/** How often to see whether a replica still has Redis. */
const LOOK_MS = 100;
/** As long as a keeper that died counts as having Redis. */
const LONGEST_MS = 10_000;

interface Waiting {
  readonly until: number;
  readonly resolve: (answer: Borrowed) => void;
  readonly reject: (error: unknown) => void;
}

export function createBorrower(database: RawDatabase, replica: string): Borrower {
  const time = createLeaseTime(database.kind);
  const waiting = new Map<string, Waiting>();
  let running: Promise<void> | undefined;
  let lookedAt = 0;

  const end = (requestId: string, answer: Borrowed) => {
    waiting.get(requestId)?.resolve(answer);
    waiting.delete(requestId);
  };
  const giveUp = async (requestIds: readonly string[], answer: "alone" | "late") => {
    for (const requestId of requestIds) if (await withdraw(database, requestId)) end(requestId, answer);
  };
  const read = async () => {
    const rows = await readAnswers(database, [...waiting.keys()]);
    const refused = rows.filter(({ granted }) => granted === NOTHING).map(({ request_id }) => request_id);
    await deleteShares(database, refused);
    for (const row of rows) end(row.request_id, readAnswer(row));
    const now = performance.now();
    await giveUp(
      [...waiting].filter(([, { until }]) => until < now).map(([requestId]) => requestId),
      "late",
    );
    if (now < lookedAt + LOOK_MS || waiting.size === 0) return;
    lookedAt = now;
    const asked = [...waiting.keys()];
    if (!(await readKeepers(database, time, replica)).hasKeeper) await giveUp(asked, "alone");
  };
  const run = async () => {
    while (waiting.size > 0) {
      await pause(STEP_MS);
      try {
        await read();
      } catch (error) {
        for (const { reject } of waiting.values()) reject(error);
        waiting.clear();
      }
    }
    running = undefined;
  };
  const wait = (requestId: string) =>
    new Promise<Borrowed>((resolve, reject) => {
      waiting.set(requestId, { until: performance.now() + LONGEST_MS, resolve, reject });
      running ??= run();
    });

  const questions = createBatcher<HoldRequest, boolean>({
    maxJobs: BATCH,
    startsAt: "turn",
    isolatesFailures: true,
    async work(requests) {
      const { hasKeeper, now } = await readKeepers(database, time, replica);
      if (hasKeeper) await database.transaction((tx) => insertShares(tx, database.kind, requests, now));
      return requests.map(() => hasKeeper);
    },
  });
  return {
    ask: async (request) => ((await questions.add(request)) ? wait(request.requestId) : "alone"),
    askForMore: async ({ requestId }, amount) =>
      (await askForMore(database, requestId, amount)) ? wait(requestId) : "alone",
  };
}
