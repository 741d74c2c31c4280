import { propertyRuns } from "@fairway/testkit/property-runs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { script } from "../../redis/script.ts";
import { quota } from "../money/quota.ts";
import { eachLedger, Spending, type BudgetHarness } from "./test-harness.contract.ts";

const MINUTE_MS = 60_000;

/** How a request ends. Parts are percentages of its reservation, so that an answer never exceeds a hard budget. */
const completion = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("settled" as const), part: fc.nat(100) }) },
  // Its process dies; the request is charged at its last reported usage, if there was one.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("dead" as const), part: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("released" as const), part: fc.constant(0) }) },
  // Its charge arrives after the reservation was released.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("late" as const), part: fc.nat(100) }) },
  // The ledger reaps it while its process sleeps; it settles afterwards.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("asleep" as const), part: fc.nat(100), seen: fc.nat(100) }) },
  // A task that fails after it was charged.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("refunded" as const), part: fc.nat(100) }) },
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

async function play(harness: BudgetHarness, one: Request, at: number, books: Books): Promise<void> {
  const id = `r${at}`;
  const spending = new Spending(harness, id, undefined, at % harness.replicas.length);
  const [first = 0, ...pauses] = one.pauses;
  await turns(first);
  if (await spending.reserve(one.amount)) return spending.release();
  let { amount } = one;
  for (const [step, channelId] of one.moves.entries()) {
    await turns(pauses[step] ?? 0);
    await spending.reserve(amount, channelId);
  }
  await turns(pauses[2] ?? 0);
  if (one.growth > 0 && (await spending.extend(amount + one.growth))) amount += one.growth;
  await turns(pauses[3] ?? 0);
  const charged = Math.floor((amount * one.completion.part) / 100);
  count(books, spending.channelId, one.completion.kind === "refunded" ? 0 : charged);
  await end(harness, spending, { id, amount, charged, completion: one.completion });
}

function count(books: Books, channelId: number, charged: number): void {
  for (const name of ["user:7", "model:m", `channel:${channelId}`])
    if (books.has(name)) books.set(name, (books.get(name) ?? 0) + charged);
}

async function end(
  harness: BudgetHarness,
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
      // Two concurrent settlements charge once.
      await Promise.all([spending.settle(charged), spending.settle(charged)]);
      return;
    case "dead":
      return charged === 0 ? undefined : spending.renew(charged);
    case "released":
      return spending.release();
    case "late":
      late.push([spending, charged]);
      return;
    case "asleep": {
      const seen = Math.floor((amount * how.seen) / 100);
      if (seen > 0) await spending.renew(seen);
      late.push([spending, charged]);
      return;
    }
    case "refunded":
      await spending.settle(charged, undefined, true);
      await harness.flush();
      if (charged > 0) await refund(harness, id, charged);
  }
}

async function refund({ replicas: [first], buildRequestId }: BudgetHarness, id: string, amount: number): Promise<void> {
  await first?.ledger.change({ requestId: buildRequestId(id), kind: "refund", userId: 7, quota: quota(amount) });
}

const late: [Spending, number][] = [];

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
  "select id, scope, subject, quota_limit, is_hard, used, held, (select coalesce(sum(h.amount), 0) from budget_holds h where h.budget_id = b.id) as open from budgets b";

/** Reads in one statement: the reserved sum of every budget is the sum of its open reservations. */
async function look(harness: BudgetHarness): Promise<Row[]> {
  const rows = await harness.raw.transaction(async (tx) => {
    const found = await tx.rows<Row & { readonly id: number }>(BOOKS, []);
    const inMemory = (id: number) => harness.reserved?.in(id) ?? 0;
    return found.map((row) => ({
      ...row,
      held: row.held + inMemory(row.id),
      open: Number(row.open) + inMemory(row.id),
    }));
  });
  for (const { scope, subject, quota_limit, is_hard, used, held, open } of rows) {
    expect({ scope, subject, held }).toEqual({ scope, subject, held: Number(open) });
    expect(held).toBeGreaterThanOrEqual(0);
    if (is_hard === 1) expect(used + held).toBeLessThanOrEqual(quota_limit);
  }
  return rows;
}

/** The same for live budgets: the open amount of each is the sum of its requests. */
async function lookLive({ replicas: [first] }: BudgetHarness): Promise<void> {
  if (!first?.redis) return;
  const { redis } = first.redis;
  const { state, holds } = redis.keys.budgets;
  const script = SUMS;
  const sums = (await redis.sendOne({ script, keys: [state, holds], args: [] }, 2_000)) as (string | number)[];
  for (let at = 0; at < sums.length; at += 3)
    expect({ budget: sums[at], open: Number(sums[at + 1]) }).toEqual({
      budget: sums[at],
      open: Number(sums[at + 2]),
    });
}

const SUMS = script(`
local sums, answers = {}, {}
local records = redis.call('HVALS', KEYS[2])
for _, record in ipairs(records) do
  local amount, ids = string.match(record, '^(%d+):%d+:(.*)$')
  for id in string.gmatch(ids, '%d+') do sums[id] = (sums[id] or 0) + tonumber(amount) end
end
local fields = redis.call('HGETALL', KEYS[1])
for at = 1, #fields, 2 do
  local id = string.match(fields[at], '^(%d+)h$')
  if id then
    table.insert(answers, id) table.insert(answers, fields[at + 1]) table.insert(answers, sums[id] or 0)
  end
end
return answers`);

async function watchUntil(harness: BudgetHarness, over: Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = over.finally(() => (isOver = true));
  const watching = (async () => {
    while (!isOver) {
      await look(harness);
      await lookLive(harness);
      await turns(3);
    }
  })();
  await Promise.all([ended, watching]);
}

/** Reaps until nothing is open, then settles the late requests. */
async function reapAll(harness: BudgetHarness): Promise<void> {
  for (let at = 0; at < 4; at += 1) {
    harness.now += MINUTE_MS;
    await Promise.all(harness.replicas.map(({ ledger }) => ledger.reap()));
    await harness.flush();
    await Promise.all(harness.replicas.map(({ budgets }) => budgets.reap()));
  }
  await Promise.all(late.splice(0).map(([spending, charged]) => spending.settle(charged)));
  await harness.flush();
}

eachLedger("any history of budgets", (open) => {
  test("keeps what is held, what is used and what is hard", { timeout: 240_000 }, async () => {
    const harness = await open(3);
    await fc.assert(
      fc.asyncProperty(history, async ({ limits, requests }) => {
        late.length = 0;
        await harness.reset();
        await harness.add("user", "7", limits.user);
        await harness.add("model", "m", 100, { is_hard: 0 });
        for (const subject of ["5", "6"]) await harness.add("channel", subject, limits.channel);
        const books: Books = new Map(["user:7", "model:m", "channel:5", "channel:6"].map((name) => [name, 0]));
        await watchUntil(harness, Promise.all(requests.map((one, at) => play(harness, one, at, books))));
        // A charge that arrives after its reservation was released may exceed a limit, because nothing is reserved for
        // it.
        await reapAll(harness);
        const rows = await harness.raw.rows<Row>(BOOKS, []);
        expect(new Map(rows.map(({ scope, subject, used }) => [`${scope}:${subject}`, used]))).toEqual(books);
        for (const { scope, subject } of rows) expect(await harness.state(scope, subject)).toMatchObject({ held: 0 });
        await lookLive(harness);
      }),
      { numRuns: propertyRuns(open.kind === "sqlite" ? 60 : 12), endOnFailure: true },
    );
    await harness.close();
  });
});
