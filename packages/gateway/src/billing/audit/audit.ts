import { setTimeout as pause } from "node:timers/promises";
import type { RedisClient } from "../../redis/client.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { unappliedMovements } from "../ledger/booking/balance-outbox.ts";
import { READ_ACCOUNTS, RECOUNT, INVALIDATE } from "./scripts.ts";
import type { Difference } from "./difference.ts";
import { checkLedgerSums } from "./sums.ts";
import { type LiveAccount, liveAccounts } from "../ledger/redis/live-accounts.ts";
import { inList } from "../../storage/statements.ts";

export interface AuditReport {
  /** Accounts that were compared. */
  readonly accounts: number;
  /** Accounts with unbooked charges, which cannot be compared now. */
  readonly busy: number;
  readonly differences: readonly Difference[];
}

export interface AuditDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  /** Also sums the ledger of every user, which reads the whole table. */
  readonly withSums: boolean;
  /** Reloads balances and recounts reservations that differ. */
  readonly isRepairing: boolean;
  /** Pause between the two comparisons that must agree before a difference is reported. */
  readonly pauseMs?: number;
}

const LONGEST_SCAN = 5_000;
const TIMEOUT_MS = 10_000;
const PAUSE_MS = 1_000;

/** Compares live balances, database balances and the ledger, for accounts without activity at the moment. */
export async function audit(deps: AuditDeps): Promise<AuditReport> {
  const differences: Difference[] = [];
  let accounts = 0;
  let busy = 0;
  for await (const some of liveAccounts(deps.redis)) {
    const { readings, moving } = await compare(some, deps);
    accounts += readings.length;
    busy += moving;
    const suspects = readings.filter(isSuspect).map(({ account }) => account);
    if (suspects.length > 0) differences.push(...(await confirm(suspects, readings, deps)));
  }
  if (deps.withSums) differences.push(...(await checkLedgerSums(deps.database)));
  return { accounts, busy, differences };
}

interface AccountReading {
  readonly account: LiveAccount;
  readonly balance: number;
  readonly held: number;
  readonly version: string;
  readonly open: number;
  /** The balance in the database. */
  readonly recorded: number;
  /** Token limits in Redis and in the database; NaN = unlimited, undefined for users. */
  readonly grant: number | undefined;
  readonly granted: number | undefined;
}

function isSuspect(readAccounts: AccountReading): boolean {
  return (
    readAccounts.balance !== readAccounts.recorded ||
    readAccounts.held !== readAccounts.open ||
    hasOtherGrant(readAccounts)
  );
}

function hasOtherGrant({ grant, granted }: AccountReading): boolean {
  return grant !== undefined && granted !== undefined && !Object.is(grant, granted);
}

/** Reads Redis, the database and Redis again: unchanged accounts without unbooked charges can be compared. */
async function compare(
  some: readonly LiveAccount[],
  deps: AuditDeps,
): Promise<{ readonly readings: AccountReading[]; readonly moving: number }> {
  const before = await readAccounts(some, deps);
  const { recorded, granted, following } = await recordedBalances(some, deps.database);
  const after = await readAccounts(some, deps);
  const readings: AccountReading[] = [];
  let moving = 0;
  for (const [at, account] of some.entries()) {
    const [first, second] = [before[at], after[at]];
    const balance = recorded.get(account.name);
    // Not loaded in this epoch, or deleted: nothing to compare.
    if (!first || !second || balance === undefined) continue;
    const isMoving = first.isWaiting || second.isWaiting || !isSame(first, second);
    if (isMoving || following.has(account.name)) moving += 1;
    else readings.push({ account, recorded: balance, granted: granted.get(account.name), ...second });
  }
  return { readings, moving };
}

function isSame(
  a: Pick<AccountReading, "balance" | "version">,
  b: Pick<AccountReading, "balance" | "version">,
): boolean {
  return a.balance === b.balance && a.version === b.version;
}

async function readAccounts(some: readonly LiveAccount[], { redis }: AuditDeps) {
  const { keys } = redis;
  const shard = some[0]?.shard ?? 0;
  const call = {
    script: READ_ACCOUNTS,
    keys: [keys.epoch(shard), keys.holds(shard), keys.charges(shard), ...some.map(({ key }) => key)],
    args: [LONGEST_SCAN, ...some.map(({ name }) => name)],
  };
  const answers = (await redis.sendOne(call, TIMEOUT_MS)) as readonly (readonly (string | number)[])[];
  return answers.map(([balance, held, version, open, waiting, grant]) =>
    balance === undefined
      ? undefined
      : {
          balance: Number(balance),
          held: Number(held),
          version: String(version),
          open: Number(open),
          isWaiting: Number(waiting) === 1,
          grant: grant === "" ? undefined : parseGrant(String(grant)),
        },
  );
}

interface Recorded {
  /** Balances in the database, by account name. */
  readonly recorded: ReadonlyMap<string, number>;
  /** Lifetime limits of tokens, by account name. */
  readonly granted: ReadonlyMap<string, number>;
  /** Accounts with unapplied movements. */
  readonly following: ReadonlySet<string>;
}

interface TokenRow {
  readonly id: number;
  readonly user_id: number;
  readonly used_quota: number;
  readonly remain_quota: number;
  readonly unlimited_quota: number;
}

const UNLIMITED = Number.NaN;

function parseGrant(text: string): number {
  return text === "u" ? UNLIMITED : Number(text);
}

async function recordedBalances(some: readonly LiveAccount[], database: RawDatabase): Promise<Recorded> {
  const ids = (kind: string) =>
    some.filter(({ name }) => name.startsWith(kind)).map(({ name }) => Number(name.slice(1)));
  const users = await select<{ id: number; quota: number }>(
    database,
    "select id, quota from users where id in",
    ids("u"),
  );
  const sql = "select id, user_id, used_quota, remain_quota, unlimited_quota from tokens where id in";
  const tokens = await select<TokenRow>(database, sql, ids("t"));
  const accounts = [
    ...users.map(({ id, quota }) => ({ name: `u${id}`, owner: id, balance: quota })),
    ...tokens.map(({ id, user_id, used_quota }) => ({ name: `t${id}`, owner: user_id, balance: 0 - used_quota })),
  ];
  const owners = accounts.map(({ owner }) => owner);
  const waiting = owners.length === 0 ? [] : await unappliedMovements(database, owners);
  const moved = new Set(waiting.map(({ userId }) => userId));
  return {
    recorded: new Map(accounts.map(({ name, balance }) => [name, balance])),
    granted: new Map(
      tokens.map((row) => [`t${row.id}`, row.unlimited_quota === 1 ? UNLIMITED : row.remain_quota + row.used_quota]),
    ),
    following: new Set(accounts.filter(({ owner }) => moved.has(owner)).map(({ name }) => name)),
  };
}

async function select<Row>(database: RawDatabase, sql: string, ids: readonly number[]): Promise<Row[]> {
  if (ids.length === 0) return [];
  const { marks, values } = inList(ids);
  return database.rows<Row>(`${sql} ${marks}`, values);
}

/** Reports a difference only when a second comparison finds the same one. */
async function confirm(
  suspects: readonly LiveAccount[],
  first: readonly AccountReading[],
  deps: AuditDeps,
): Promise<Difference[]> {
  await pause(deps.pauseMs ?? PAUSE_MS);
  const second = (await compare(suspects, deps)).readings.filter(isSuspect);
  const confirmed: Difference[] = [];
  for (const found of second) {
    const before = first.find(({ account }) => account.name === found.account.name);
    if (before) confirmed.push(...(await listDifferences(before, found, deps)));
  }
  return confirmed;
}

async function listDifferences(before: AccountReading, found: AccountReading, deps: AuditDeps): Promise<Difference[]> {
  const account = formatAccountName(found.account);
  const differences: Difference[] = [];
  const offBy = found.balance - found.recorded;
  if (offBy !== 0 && before.balance - before.recorded === offBy) {
    differences.push({ what: "live balance", account, found: found.balance, expected: found.recorded });
    if (deps.isRepairing) await invalidate(found, deps);
  }
  if (hasOtherGrant(found) && hasOtherGrant(before)) {
    const [was = 0, is = 0] = [found.grant, found.granted];
    differences.push({ what: "live grant", account, found: was, expected: is });
    if (deps.isRepairing) await invalidate(found, deps);
  }
  const heldBy = found.held - found.open;
  if (heldBy !== 0 && before.held - before.open === heldBy) {
    differences.push({ what: "live reservations", account, found: found.held, expected: found.open });
    if (deps.isRepairing) await recount(found.account, deps);
  }
  return differences;
}

async function invalidate({ account, balance, version }: AccountReading, { redis }: AuditDeps): Promise<void> {
  await redis.sendOne({ script: INVALIDATE, keys: [account.key], args: [balance, version] }, TIMEOUT_MS);
}

async function recount({ key, name, shard }: LiveAccount, { redis }: AuditDeps): Promise<void> {
  const args = [name.startsWith("u") ? "user" : "token", name.slice(1)];
  await redis.sendOne({ script: RECOUNT, keys: [key, redis.keys.holds(shard)], args }, TIMEOUT_MS);
}

function formatAccountName({ name }: LiveAccount): string {
  return `${name.startsWith("u") ? "user" : "token"} ${name.slice(1)}`;
}
