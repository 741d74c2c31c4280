import { createDatabase } from "@fairway/testkit/databases";
import { parseOptions } from "@fairway/wire";
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createBudgets, type Budgets } from "../../billing/budgets/budgets.ts";
import { createSqlLedger } from "../../billing/ledger/sql/sql-ledger.ts";
import { quota } from "../../billing/money/quota.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import { AppError } from "../../lib/app-error.ts";
import { createMemoryClaims } from "../../limits/claims-memory.ts";
import type { Claim, Claims } from "../../limits/claims.ts";
import { createLog } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { createAdmissionQueue, type AdmissionQueue } from "./admission-queue.ts";
import { createCallLimit } from "./call-limit.ts";
import { CallProgress } from "../request/call-progress.ts";
import { admissionFor, type AdmissionController } from "./admission-controller.ts";
import { admitAndReserve } from "./admit-and-reserve.ts";
import type { Candidate, Candidates } from "./candidates.ts";
import { whileWaiting, type RunningRequest } from "../reservation/running.ts";

const NEVER_MS = 1_000_000;
const clock = { now: () => Date.parse("2026-11-21T12:00:00Z") };
const metrics = { limited: () => undefined, queued: () => undefined };

let kit: StoreKit;
let claims: Claims;
let budgets: Budgets;
let queue: AdmissionQueue;
/** Database calls made by budgets. */
let calls = 0;
/** Set while the database does not answer. */
let stillUntil: Promise<never> | undefined;

function counted({ kind, run, rows, transaction }: RawDatabase): RawDatabase {
  const count = <A extends unknown[], T>(ask: (...args: A) => T) => {
    return (...args: A) => {
      calls += 1;
      return stillUntil ? (stillUntil as T) : ask(...args);
    };
  };
  return {
    kind,
    run: count(run),
    rows: count(rows) as RawDatabase["rows"],
    transaction: count(transaction) as RawDatabase["transaction"],
  };
}

async function addBudget(scope: string, subject: string): Promise<void> {
  const row = { scope, subject, period: "day", time_zone: "UTC", quota_limit: 1 };
  await kit.database.db
    .insertInto("budgets")
    .values({ ...row, soft_percent: 0, is_hard: 1, window_start: 0 })
    .execute();
  await budgets.reload();
}

beforeAll(async () => {
  kit = await openStoreKit(await createDatabase("sqlite"));
});
afterAll(() => kit.database.close());
beforeEach(async () => {
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  for (const table of ["budgets", "budget_holds"]) await kit.database.raw.run(`delete from ${table}`, []);
  claims = createMemoryClaims(clock);
  calls = 0;
  stillUntil = undefined;
  const database = counted(kit.database.raw);
  const { budgets: reservations } = createSqlLedger({ database, clock, log });
  budgets = createBudgets({ database, reservations, log, onOutage: () => undefined });
  queue = createAdmissionQueue(NEVER_MS);
});

class Client extends EventEmitter {
  closed = false;
  readonly headersSent = true;

  setHeader(): void {}

  leave(): void {
    this.closed = true;
    this.emit("close");
  }
}

/** Returns an admission controller for a user with one request per minute. */
function createAdmission(id: string, userId = 7): AdmissionController {
  return maybeAdmission(id, { userId, userLimits: { rpm: 1 } }) as AdmissionController;
}

function maybeAdmission(id: string, more: Partial<Caller> = {}): AdmissionController | undefined {
  const options = parseOptions([]);
  const caller = { userId: 7, tokenId: 3, ...more } as Caller;
  const callLimit = createCallLimit({ claims, options: () => options, metrics });
  const ask = { model: "m", promptEstimate: 10, outputCap: 10 };
  const snapshot = { options, channels: new Map() } as unknown as Snapshot;
  const deps = { claims, budgets, queue, calls: callLimit, metrics, recheck: () => Promise.resolve() };
  return admissionFor({ id, caller, spec: ask, progress: new CallProgress() }, snapshot, deps);
}

const candidate = (id: number, limits: object = {}): Candidate => ({
  channel: { id, setting: { limits } },
  group: "default",
  keyIndex: 0,
});

function createCandidates(...all: Candidate[]): Candidates<Candidate> {
  let at = 0;
  const next = () => all[at++];
  return { next, full: () => undefined, reopen: () => ((at = 0), next()), lastResort: () => undefined };
}

test("a client that leaves while it waits is out of the queue at once", async () => {
  const only = candidate(1, { concurrency: 1 });
  const place: Claim = { scope: "channel", subject: "1", kind: "concurrency", limit: 1, amount: 1 };
  await claims.take("other", [place]);
  const client = new Client();
  const candidates = createCandidates(only);
  const entering = createAdmission("a").enter(candidates.next(), candidates, {
    client: client,
    budgetAmounts: () => ({ amount: quota(0) }),
  });
  await expect.poll(() => queue.waiting).toBe(1);
  client.leave();
  expect(queue.waiting).toBe(0);
  await expect(entering).rejects.toMatchObject({ code: "client_closed_request" });
});

test("a request that cannot be paid stops waiting and gets the reason", async () => {
  const place: Claim = { scope: "channel", subject: "1", kind: "concurrency", limit: 1, amount: 1 };
  await claims.take("other", [place]);
  const admission = createAdmission("a");
  const candidates = createCandidates(candidate(1, { concurrency: 1 }));
  const entering = admission.enter(candidates.next(), candidates, {
    client: new Client(),
    budgetAmounts: () => ({ amount: quota(0) }),
  });
  await expect.poll(() => queue.waiting).toBe(1);
  const poor = new AppError("insufficient_user_quota");
  const opening = Promise.reject<object>(poor);
  await expect(admitAndReserve(admission, entering, opening, { release: () => Promise.resolve() })).rejects.toBe(poor);
  expect(queue.waiting).toBe(0);
});

test("a request counts once, however many channels were over their budget", async () => {
  await addBudget("channel", "1");
  const candidates = createCandidates(candidate(1), candidate(2));
  const entering = createAdmission("a").enter(candidates.next(), candidates, {
    client: new Client(),
    budgetAmounts: () => ({ amount: quota(100) }),
  });
  expect((await entering)?.channel.id).toBe(2);
});

const placeIn = (subject: string, limit = 1): Claim => ({
  scope: "channel",
  subject,
  kind: "concurrency",
  limit,
  amount: 1,
});
const enter = (id: string, userId: number, ...all: Candidate[]) => {
  const candidates = createCandidates(...all);
  const asked = { client: new Client(), budgetAmounts: () => ({ amount: quota(0) }) };
  return createAdmission(id, userId).enter(candidates.next(), candidates, asked);
};

test("a later request does not overtake those that wait for one of its channels", async () => {
  const candidates = [candidate(1, { concurrency: 1 }), candidate(2, { concurrency: 1 })];
  for (const subject of ["1", "2"]) await claims.take("other", [placeIn(subject)]);
  const first = enter("a", 7, ...candidates);
  await expect.poll(() => queue.waiting).toBe(1);
  await claims.release("other", [placeIn("1")]);
  const second = enter("b", 8, ...candidates);
  await expect.poll(() => queue.waiting).toBe(2);
  queue.freed(1);
  expect((await first)?.channel.id).toBe(1);
  await claims.release("other", [placeIn("2")]);
  queue.freed(2);
  expect((await second)?.channel.id).toBe(2);
  expect(queue.waiting).toBe(0);
});

test("several places that become free at once serve all waiting requests", async () => {
  for (const id of ["x", "y", "z"]) await claims.take(id, [placeIn("1", 3)]);
  const waiting = [7, 8, 9].map((userId) => enter(`w${userId}`, userId, candidate(1, { concurrency: 3 })));
  await expect.poll(() => queue.waiting).toBe(3);
  for (const id of ["x", "y", "z"]) await claims.release(id, [placeIn("1", 3)]);
  queue.freed(1);
  expect((await Promise.all(waiting)).map((found) => found?.channel.id)).toEqual([1, 1, 1]);
});

test("a request waits for another channel when one is over its budget", async () => {
  await addBudget("channel", "2");
  await claims.take("other", [placeIn("1")]);
  const candidates = createCandidates(candidate(1, { concurrency: 1 }), candidate(2));
  const entering = createAdmission("a").enter(candidates.next(), candidates, {
    client: new Client(),
    budgetAmounts: () => ({ amount: quota(100) }),
  });
  await expect.poll(() => queue.waiting).toBe(1);
  await claims.release("other", [placeIn("1")]);
  queue.freed(1);
  expect((await entering)?.channel.id).toBe(1);
});

test("claims are renewed while the budget database does not respond", async () => {
  await addBudget("channel", "2");
  const candidates = createCandidates(candidate(2, { concurrency: 1 }));
  const admission = createAdmission("a");
  await admission.enter(candidates.next(), candidates, {
    client: new Client(),
    budgetAmounts: () => ({ amount: quota(1) }),
  });
  const renewed = vi.spyOn(claims, "renew");
  stillUntil = new Promise(() => undefined);
  void admission.renew();
  expect(renewed.mock.calls.map(([id, of]) => [id, of.length])).toEqual([["a", 2]]);
});

test("a waiting request renews the claims it holds before its reservation is open", async () => {
  await addBudget("channel", "2");
  await claims.take("other", [placeIn("1")]);
  const candidates = createCandidates(candidate(2), candidate(1, { concurrency: 1 }));
  const admission = createAdmission("a");
  const entering = admission.enter(candidates.next(), candidates, {
    client: new Client(),
    budgetAmounts: () => ({ amount: quota(100) }),
  });
  await expect.poll(() => queue.waiting).toBe(1);
  const added: RunningRequest[] = [];
  const running = { add: (one: RunningRequest) => void added.push(one), remove: () => undefined };
  const waiting = whileWaiting(running, admission, new Promise(() => undefined), entering);
  const renewed = vi.spyOn(claims, "renew");
  void added[0]?.renew();
  expect(renewed.mock.calls.map(([id, of]) => [id, of.map(({ scope }) => scope)])).toEqual([["a", ["user"]]]);
  await claims.release("other", [placeIn("1")]);
  queue.freed(1);
  expect((await waiting)?.channel.id).toBe(1);
});

test("a request that no limit or budget concerns has no admission controller", async () => {
  expect(maybeAdmission("a")).toBeUndefined();
  for (const [scope, subject] of Object.entries({ user: "8", token: "4", model: "n" })) await addBudget(scope, subject);
  expect(maybeAdmission("a")).toBeUndefined();
  await addBudget("channel", "9");
  expect(maybeAdmission("a")).toBeDefined();
});

test("a request that no budget concerns sends no query to the database", async () => {
  await addBudget("channel", "9");
  calls = 0;
  const admission = maybeAdmission("a") as AdmissionController;
  const candidates = createCandidates(candidate(1));
  const budgetAmounts = () => expect.unreachable("nothing needs an estimate");
  await admission.enter(candidates.next(), candidates, { client: new Client(), budgetAmounts });
  expect(await admission.move(candidate(2))).toBe(true);
  expect(await admission.extend(quota(500))).toBe(true);
  await admission.renew();
  admission.end({ tokens: 20, isSuccess: true });
  await budgets.idle(1_000);
  expect(calls).toBe(0);
});
