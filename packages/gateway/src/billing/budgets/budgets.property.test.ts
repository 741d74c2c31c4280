import { propertyRuns } from "@fairway/testkit/property-runs";
import { eachDatabase } from "@fairway/testkit/databases";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openBudgetRig, Spending, type BudgetRig } from "./test-harness.contract.ts";
import { REAPED, REAPED_UNUSED } from "../ledger/sql/booking.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How a request ends; parts are of what it has reserved, so that a hard budget is never passed by an answer. */
const completion = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("settled" as const), part: fc.nat(100) }) },
  // Its process dies; the ledger has the charge, or never one.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("dead" as const), part: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("released" as const), part: fc.constant(0) }) },
  // Its charge comes when the reservation was given up.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("late" as const), part: fc.nat(100) }) },
  // Reaped by the ledger while its process slept; it settles after all.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("asleep" as const), part: fc.nat(100), seen: fc.nat(100) }) },
);

const request = fc.record({
  amount: fc.integer({ min: 1, max: 60 }),
  pauses: fc.array(fc.nat(6), { minLength: 5, maxLength: 5 }),
  /** Channels of further attempts: 5 and 6 have budgets, 7 has none. */
  moves: fc.array(fc.constantFrom(5, 6, 7), { maxLength: 2 }),
  growth: fc.nat(60),
  completion,
});
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

const history = fc.record({
  limits: fc.record({ user: fc.integer({ min: 50, max: 1_500 }), channel: fc.integer({ min: 20, max: 400 }) }),
  requests: fc.array(request, { minLength: 5, maxLength: 40 }),
});

/** The expected use of each budget, by scope and subject. */
type Books = Map<string, number>;

const turns = async (count: number) => {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

async function play(rig: BudgetRig, one: Request, at: number, books: Books): Promise<void> {
  const replica = rig.replicas[at % rig.replicas.length] as BudgetRig["budgets"];
  const id = `r${at}`;
  const spending = new Spending(replica, id);
  const [first = 0, ...pauses] = one.pauses;
  await turns(first);
  if (await spending.reserve(one.amount)) return;
  let { amount } = one;
  for (const [step, channelId] of one.moves.entries()) {
    await turns(pauses[step] ?? 0);
    await spending.reserve(amount, channelId);
  }
  await turns(pauses[2] ?? 0);
  if (one.growth > 0 && (await spending.extend(amount + one.growth))) amount += one.growth;
  await turns(pauses[3] ?? 0);
  const charged = Math.floor((amount * one.completion.part) / 100);
  count(books, spending.channelId, charged);
  await end(rig, spending, { id, amount, charged, completion: one.completion });
}

function count(books: Books, channelId: number, charged: number): void {
  for (const name of ["user:7", "model:m", `channel:${channelId}`])
    if (books.has(name)) books.set(name, (books.get(name) ?? 0) + charged);
}

async function end(
  rig: BudgetRig,
  spending: Spending,
  {
    id,
    amount,
    charged,
    completion: how,
  }: { id: string; amount: number; charged: number; completion: Request["completion"] },
): Promise<void> {
  switch (how.kind) {
    case "settled":
      await rig.book(id, charged);
      // Two who close at once charge once.
      await Promise.all([spending.settle(charged), spending.settle(charged)]);
      return;
    case "dead":
      return rig.book(id, charged);
    case "released":
      return;
    case "late":
      late.push([id, charged]);
      return;
    case "asleep": {
      const seen = Math.floor((amount * how.seen) / 100);
      await rig.book(id, seen, { detail: seen === 0 ? REAPED_UNUSED : REAPED });
      rig.now += 3 * MINUTE_MS;
      await Promise.all(rig.replicas.map((replica) => replica.reap()));
      await Promise.all([
        rig.book(id, charged - seen, { kind: "correct" }),
        spending.settle(charged),
        ...rig.replicas.map((replica) => replica.reap()),
      ]);
    }
  }
}

const late: [string, number][] = [];

interface Row {
  readonly scope: string;
  readonly subject: string;
  readonly quota_limit: number;
  readonly is_hard: number;
  readonly used: number;
  readonly held: number;
  readonly open: number;
}

const BOOKS =
  "select scope, subject, quota_limit, is_hard, used, held, (select coalesce(sum(h.amount), 0) from budget_holds h where h.budget_id = b.id) as open from budgets b";

/** Reads in one statement: the reserved sum of every budget is the sum of its open reservations. */
async function look(rig: BudgetRig, isHard: boolean): Promise<Row[]> {
  const rows = await rig.raw.rows<Row>(BOOKS, []);
  for (const { scope, subject, quota_limit, is_hard, used, held, open } of rows) {
    expect({ scope, subject, held }).toEqual({ scope, subject, held: Number(open) });
    expect(held).toBeGreaterThanOrEqual(0);
    if (isHard && is_hard === 1) expect(used + held).toBeLessThanOrEqual(quota_limit);
  }
  return rows;
}

async function watchUntil(rig: BudgetRig, isHard: boolean, over: Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = over.finally(() => (isOver = true));
  const watching = (async () => {
    while (!isOver) {
      await look(rig, isHard);
      await turns(3);
    }
  })();
  await Promise.all([ended, watching]);
}

/** Until nothing is open and no request waits for the ledger. */
async function reapAll(rig: BudgetRig): Promise<void> {
  const reap = async (times: number, everyMs: number) => {
    for (let at = 0; at < times; at += 1) {
      rig.now += everyMs;
      await Promise.all(rig.replicas.map((replica) => replica.reap()));
    }
  };
  await reap(16, MINUTE_MS);
  for (const [id, charged] of late.splice(0)) await rig.book(id, charged);
  await reap(6, HOUR_MS / 2);
}

eachDatabase("any history of budgets", (open) => {
  test("keeps what is held, what is used and what is hard", { timeout: 120_000 }, async () => {
    const rig = await openBudgetRig(await open(), 3);
    await fc.assert(
      fc.asyncProperty(history, async ({ limits, requests }) => {
        await rig.reset();
        await rig.add("user", "7", limits.user);
        await rig.add("model", "m", 100, { is_hard: 0 });
        for (const subject of ["5", "6"]) await rig.add("channel", subject, limits.channel);
        const books: Books = new Map(["user:7", "model:m", "channel:5", "channel:6"].map((name) => [name, 0]));
        // What is charged after its reservation was given up may pass a limit: nothing was reserved for it any more.
        const isHard = requests.every(({ completion: { kind } }) => kind !== "asleep");
        await watchUntil(rig, isHard, Promise.all(requests.map((one, at) => play(rig, one, at, books))));
        await reapAll(rig);
        const rows = await look(rig, false);
        expect(new Map(rows.map(({ scope, subject, used }) => [`${scope}:${subject}`, used]))).toEqual(books);
        expect(rows.map(({ held }) => held)).toEqual([0, 0, 0, 0]);
      }),
      { numRuns: propertyRuns(open.kind === "sqlite" ? 60 : 12), endOnFailure: true },
    );
    await rig.close();
  });
});
