import fc from "fast-check";
import { expect } from "vitest";
import { depositStep, PlayedDeposits, type DepositStep } from "./deposit-history.contract.ts";
import { type DepositSettlement, type Hold, isRefusal } from "./ledger.ts";
import {
  type Accounts,
  createTestAccounts,
  type LedgerHarness,
  createLogDetail,
  requestId,
  createSettlement,
} from "./test-harness.contract.ts";
import { quota } from "../money/quota.ts";

/** One operation on the ledger; `at` selects an existing request in any state. */
export type Step =
  | {
      readonly does: "ask";
      readonly user: number;
      readonly token: number;
      readonly amount: number;
      readonly isCharged: boolean;
    }
  | {
      readonly does: "settle";
      readonly at: number;
      readonly amount: number;
      readonly channel: number;
      readonly isLogged: boolean;
    }
  | { readonly does: "release"; readonly at: number }
  | { readonly does: "refund"; readonly at: number }
  | {
      readonly does: "renew";
      readonly at: number;
      readonly seen: number;
      readonly channel: number;
      readonly extendTo: number | undefined;
    }
  | { readonly does: "topup"; readonly user: number; readonly amount: number; readonly repeats: number }
  | { readonly does: "reap" }
  | DepositStep;

/** An operation on a request. */
type StepOfRequest = Exclude<Step, { readonly does: "ask" | "topup" | "reap" }>;

const at = fc.nat(1000);
const amount = fc.oneof(fc.nat(60), fc.nat(600));
const index = fc.nat(2);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("ask" as const),
      user: index,
      token: index,
      amount,
      isCharged: fc.constant(true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("ask" as const),
      user: index,
      token: index,
      amount: fc.constant(0),
      isCharged: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("settle" as const),
      at,
      amount,
      channel: index,
      isLogged: fc.constant(true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("release" as const), at }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("refund" as const), at }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("renew" as const),
      at,
      seen: amount,
      channel: index,
      extendTo: fc.option(amount, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("topup" as const), user: index, amount, repeats: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant({ does: "reap" as const }) },
  { weight: 4, arbitrary: depositStep },
);

/** Steps of one round run concurrently; leases expire between some rounds. */
export interface History {
  readonly balances: readonly number[];
  readonly remains: readonly (number | "unlimited")[];
  readonly rounds: readonly { readonly steps: readonly Step[]; readonly leasesEnd: boolean }[];
}

export const history: fc.Arbitrary<History> = fc.record({
  balances: fc.tuple(fc.nat(50), fc.nat(1000), fc.nat(5000)),
  remains: fc.tuple(fc.nat(300), fc.nat(3000), fc.constant("unlimited" as const)),
  rounds: fc.array(fc.record({ steps: fc.array(step, { maxLength: 12 }), leasesEnd: fc.boolean() }), {
    minLength: 1,
    maxLength: 10,
  }),
});

interface Request {
  readonly hold: Hold;
  readonly user: number;
  readonly token: number;
}

/** Runs a history against a ledger and checks the invariants after every round and at the end. */
export async function play(
  harness: LedgerHarness,
  accounts: Accounts,
  { balances, remains, rounds }: History,
): Promise<void> {
  const { ledger, clock, leaseMs } = harness;
  const users = await Promise.all(balances.map((balance) => accounts.addUser(balance)));
  // Every user has a token of every kind.
  const tokens = await Promise.all(
    users.map((user) => Promise.all(remains.map((remain) => accounts.addToken(user, remain)))),
  );
  const channels = await Promise.all([0, 1, 2].map(() => accounts.addChannel()));
  const requests: Request[] = [];
  const deposits = new PlayedDeposits(harness, channels);
  const credits = users.map(() => 0);

  const ask = async ({ user, token, amount: wanted, isCharged }: Extract<Step, { does: "ask" }>) => {
    const tokenId = tokens[user]?.[token] as number;
    const answer = await ledger.hold({
      requestId: requestId(),
      userId: users[user] as number,
      tokenId,
      amount: quota(wanted),
      isCharged,
    });
    if (!isRefusal(answer)) requests.push({ hold: answer, user, token });
  };
  const settlement = (hold: Hold, value: number, channel: number) => {
    const channelId = channels[channel] as number;
    return createSettlement(hold, value, { channelId, at: clock.now(), log: createLogDetail(channelId) });
  };
  const topUp = async ({ user, amount: value, repeats }: Extract<Step, { does: "topup" }>) => {
    const change = {
      requestId: requestId(),
      kind: "topup",
      userId: users[user] as number,
      quota: quota(value),
    } as const;
    const answers = await Promise.all(Array.from({ length: repeats + 1 }, () => ledger.change(change)));
    expect(answers.filter(Boolean)).toHaveLength(1);
    credits[user] = (credits[user] as number) + value;
  };
  const run = async (one: Step): Promise<unknown> => {
    if (one.does === "ask") return ask(one);
    if (one.does === "topup") return topUp(one);
    if (one.does === "reap") return ledger.reap();
    const request = requests[one.at % Math.max(requests.length, 1)];
    return request && runOn(request.hold, one);
  };
  const runOn = async (hold: Hold, one: StepOfRequest): Promise<unknown> => {
    if (one.does === "release") return ledger.release(hold);
    const isOfBatch = one.does === "deposit" || one.does === "close";
    if (!deposits.is(isOfBatch ? "batch" : "call", hold)) return undefined;
    if (isOfBatch) return deposits.run(hold, one);
    if (one.does === "settle") return ledger.settle(settlement(hold, one.amount, one.channel));
    if (one.does === "refund") return refund(harness, hold);
    const extendTo = one.extendTo === undefined ? undefined : quota(one.extendTo);
    return ledger.renew(hold, settlement(hold, one.seen, one.channel), extendTo);
  };

  const facts = { harness, users, tokens: tokens.flat(), channels, balances, remains, credits };
  for (const { steps, leasesEnd } of rounds) {
    await Promise.all(steps.map(run));
    await checkAccounts(facts);
    if (leasesEnd) clock.advance(leaseMs);
  }
  clock.advance(leaseMs);
  await Promise.all([ledger.reap(), ledger.reap()]);
  await deposits.closeAll();
  await checkAccounts(facts);
  await checkClosed(facts, requests, deposits);
}

/** Refunds the charge of the request once, like the task poller. */
async function refund({ ledger, database }: LedgerHarness, hold: Hold): Promise<void> {
  await ledger.flush();
  const rows = await database.rows<{ kind: string; quota: number; channel_id: number }>(
    "select kind, quota, channel_id from ledger where request_id = ? and kind in ('consume', 'correct') order by id",
    [hold.requestId],
  );
  // A reaped amount may still be corrected, and a real task is refunded long after its request has ended.
  if (rows.length !== 1 || rows[0]?.kind !== "consume" || rows[0].channel_id === 0) return;
  const open = await database.rows("select detail from ledger where request_id = ? and detail <> ''", [hold.requestId]);
  if (open.length > 0) return;
  const { requestId: id, userId, tokenId } = hold;
  await ledger.change({
    requestId: id,
    kind: "refund",
    userId,
    tokenId,
    channelId: rows[0].channel_id,
    quota: quota(0 - rows[0].quota),
  });
}

interface Facts {
  readonly harness: LedgerHarness;
  readonly users: readonly number[];
  readonly tokens: readonly number[];
  readonly channels: readonly number[];
  readonly balances: readonly number[];
  readonly remains: readonly (number | "unlimited")[];
  readonly credits: readonly number[];
}

interface Entry {
  readonly request_id: string;
  readonly kind: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly channel_id: number;
  readonly quota: number;
  readonly detail: string;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const list = (ids: readonly number[]) => ids.join(", ");

async function readEntries({ harness, users }: Facts): Promise<Entry[]> {
  await harness.ledger.flush();
  const columns = "request_id, kind, user_id, token_id, channel_id, quota, detail";
  return harness.database.rows<Entry>(
    `select ${columns} from ledger where user_id in (${list(users)}) order by id`,
    [],
  );
}

const isCharge = ({ kind }: Entry) => kind === "consume" || kind === "correct";
const isUse = (entry: Entry) => isCharge(entry) || entry.kind === "refund";
const isReserve = ({ kind }: Entry) => kind === "deposit" || kind === "return";
/** A token spends its deposits, which are no usage of its user. */
const isSpent = (entry: Entry) => isUse(entry) || isReserve(entry);
const charged = (entries: readonly Entry[]) => 0 - sum(entries.map(({ quota: moved }) => moved));

/** Holds at any time: balances equal the sum of their ledger rows, and held amounts equal the open reservations. */
async function checkAccounts(facts: Facts): Promise<void> {
  const { harness, users, tokens, channels, balances, remains, credits } = facts;
  const entries = await readEntries(facts);
  const rows = await harness.database.rows<{ id: number; quota: number; used_quota: number }>(
    `select id, quota, used_quota from users where id in (${list(users)})`,
    [],
  );
  for (const { id, quota: balance, used_quota: used } of rows) {
    const own = entries.filter(({ user_id }) => user_id === id);
    const start = balances[users.indexOf(id)] as number;
    expect(balance - start).toBe(sum(own.map(({ quota: moved }) => moved)));
    expect(used).toBe(charged(own.filter(isUse)));
    expect(sum(own.filter(({ kind }) => kind === "topup").map(({ quota: moved }) => moved))).toBe(
      credits[users.indexOf(id)],
    );
  }
  const tokenRows = await harness.database.rows<{ id: number; remain_quota: number; used_quota: number }>(
    `select id, remain_quota, used_quota from tokens where id in (${list(tokens)})`,
    [],
  );
  for (const { id, remain_quota: remain, used_quota: used } of tokenRows) {
    const start = remains[tokens.indexOf(id) % remains.length];
    expect(used).toBe(charged(entries.filter((entry) => entry.token_id === id && isSpent(entry))));
    expect(remain).toBe(start === "unlimited" ? 0 : (start as number) - used);
  }
  const channelRows = await harness.database.rows<{ used_quota: number }>(
    `select used_quota from channels where id in (${list(channels)})`,
    [],
  );
  expect(sum(channelRows.map(({ used_quota: used }) => used))).toBe(charged(entries.filter(isUse)));
}

interface ChargeRow {
  readonly request_id: string;
  readonly quota: number;
  readonly channel_id: number;
  readonly user_id: number;
}

/** A batch has one row for each of its settlements. */
function checkBatchRows(logs: readonly ChargeRow[], hold: Hold, closed: readonly DepositSettlement[]): void {
  const own = logs.filter(({ request_id: id }) => id === hold.requestId || id.startsWith(`${hold.requestId}.`));
  const ascending = (amounts: readonly number[]) => amounts.toSorted((one, other) => one - other);
  expect(ascending(own.map((log) => log.quota))).toEqual(ascending(closed.map(({ quota: charge }) => charge)));
}

/** A call has one row with its final amount if it was settled; returns whether it was. */
function checkCallRows(logs: readonly ChargeRow[], hold: Hold, entries: readonly Entry[]): boolean {
  const own = entries.filter((entry) => entry.request_id === hold.requestId && isCharge(entry));
  const lapsed = own.length === 1 && own[0]?.detail === "reaped, nothing delivered";
  const isSettled = own.length > 0 && !lapsed;
  const rows = logs.filter((log) => log.request_id === hold.requestId);
  expect(rows.map((log) => log.quota)).toEqual(isSettled ? [charged(own)] : []);
  if (isSettled) expect(rows[0]?.channel_id).toBe(own.at(-1)?.channel_id);
  expect(charged(own)).toBeGreaterThanOrEqual(0);
  return isSettled;
}

/**
 * Holds once no request is open: each was settled, reaped or released exactly once and logged with its final amount.
 */
async function checkClosed(facts: Facts, requests: readonly Request[], deposits: PlayedDeposits): Promise<void> {
  const { harness, users } = facts;
  const entries = await readEntries(facts);
  expect(await harness.database.rows(`select request_id from holds where user_id in (${list(users)})`, [])).toEqual([]);
  const logs = await harness.logDatabase.rows<ChargeRow>(
    `select request_id, quota, channel_id, user_id from logs where type = 2 and user_id in (${list(users)})`,
    [],
  );
  let counted = 0;
  let logged = 0;
  for (const { hold } of requests) {
    const closed = deposits.closed(hold);
    if (closed) {
      counted += sum(closed.map(({ items }) => items));
      logged += closed.length;
      checkBatchRows(logs, hold, closed);
    } else if (checkCallRows(logs, hold, entries)) {
      counted += 1;
      logged += 1;
    }
  }
  expect(logs).toHaveLength(logged);
  expect(sum(entries.filter(isReserve).map(({ quota: moved }) => moved))).toBe(0);
  const [total] = await harness.database.rows<{ requests: number }>(
    `select sum(request_count) as requests from users where id in (${list(users)})`,
    [],
  );
  expect(Number(total?.requests)).toBe(counted);
}

/** Reserves any amounts at once: no more than the balance is admitted, and no amount is refused that still fits. */
export async function neverOverdraws(harness: LedgerHarness, numRuns: number): Promise<void> {
  const accounts = createTestAccounts(harness);
  const amounts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 2, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.nat(2000), fc.nat(2000), amounts, async (balance, remain, wanted) => {
      const user = await accounts.addUser(balance);
      const token = await accounts.addToken(user, remain);
      const ask = (amount: number) =>
        harness.ledger.hold({
          requestId: requestId(),
          userId: user,
          tokenId: token,
          amount: quota(amount),
          isCharged: true,
        });
      const answers = await Promise.all(wanted.map(ask));
      const holds = answers.flatMap((answer) => (isRefusal(answer) ? [] : [answer]));
      const limit = Math.min(balance, remain);
      const taken = holds.reduce((total, hold) => total + hold.amount, 0);
      expect(taken).toBeLessThanOrEqual(limit);
      const refused = wanted.filter((_, index) => isRefusal(answers[index] as (typeof answers)[number]));
      // No request was refused that the final balance could have covered.
      if (refused.length > 0) expect(Math.min(...refused)).toBeGreaterThan(limit - taken);
      await Promise.all(holds.map((hold) => harness.ledger.settle(createSettlement(hold, hold.amount))));
      expect((await accounts.user(user)).quota).toBe(balance - taken);
    }),
    { numRuns },
  );
}
