import { runSql } from "../src/sql.ts";
import { budgetFindings } from "./budgets.ts";
import type { Outcome } from "./client.ts";
import { PRICE } from "./world.ts";

/** Account columns before the load, with keys such as `users:3`. */
export type Baseline = ReadonlyMap<string, Row>;
type Row = Readonly<Record<string, number>>;

/** The differences that an audit of the books found; every list is empty if there are none. */
export interface Findings {
  /** Two answers with one id, or two rows of one kind for one request. */
  readonly twice: readonly string[];
  /** Delivered answers without their ledger row or their log row. */
  readonly lost: readonly string[];
  /** Charges of delivered answers that are not the price, and charges of refused ones. */
  readonly wrong: readonly string[];
  /**
   * Accounts with a balance, counters, ledger and logs that do not agree; budgets that do not agree with their charges.
   */
  readonly unequal: readonly string[];
  /** Reservations that a sweep should have removed, because their lease ended long ago. */
  readonly leftover: readonly string[];
}

export interface Books {
  readonly findings: Findings;
  readonly charges: number;
  readonly charged: number;
}

/** The sweep runs every few seconds; a busy machine makes it later. */
const SWEEP_MS = 30_000;
const CONSUME = 2;
/**
 * The ledger's text for a reservation that ended before anything was delivered; it is not a request until it is
 * corrected.
 */
const REAPED_UNUSED = "reaped, nothing delivered";
const CHARGES = "kind in ('consume', 'correct')";

/** Each statement reads one consistent snapshot; money moves while it runs. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  users: `select id, quota, used_quota as used, request_count as requests,
    (select coalesce(sum(l.quota), 0) from ledger l where l.user_id = users.id) as booked,
    (select coalesce(sum(l.quota), 0) from ledger l where l.user_id = users.id and l.${CHARGES}) as charged,
    (select count(*) from ledger l where l.user_id = users.id and l.kind = 'consume' and (l.detail <> '${REAPED_UNUSED}'
      or l.request_id in (select c.request_id from ledger c where c.kind = 'correct')))
      + coalesce((select o.amount from opening_counters o where o.counter = 'requests' and o.id = users.id), 0) as settled,
    (select coalesce(sum(g.quota), 0) from logs g where g.user_id = users.id and g.type = ${CONSUME}) as logged
    from users`,
  tokens: `select id, remain_quota as remain, used_quota as used, unlimited_quota as unlimited,
    (select coalesce(sum(l.quota), 0) from ledger l where l.token_id = tokens.id and l.${CHARGES}) as charged,
    (select coalesce(sum(g.quota), 0) from logs g where g.token_id = tokens.id and g.type = ${CONSUME}) as logged
    from tokens`,
  channels: `select id, used_quota as used,
    (select coalesce(sum(l.quota), 0) from ledger l where l.channel_id = channels.id and l.${CHARGES}) as charged,
    (select coalesce(sum(g.quota), 0) from logs g where g.channel_id = channels.id and g.type = ${CONSUME}) as logged
    from channels`,
};

export async function openBooks(database: string): Promise<Baseline> {
  return new Map(await accounts(database));
}

/** Reads everything now. Settlements may still be running: for a final result, repeat this until nothing is found. */
export async function readBooks(database: string, baseline: Baseline, outcomes: readonly Outcome[]): Promise<Books> {
  const ledger = await runSql(database, `select request_id, kind, quota from ledger where ${CHARGES}`);
  const logs = await runSql(database, `select request_id, quota from logs where type = ${CONSUME}`);
  const booked = new Map<string, number>();
  const kinds = new Set<string>();
  const twice = new Set(repeated(outcomes.flatMap(({ id }) => id ?? [])).map((id) => `${id}: two answers`));
  for (const row of ledger) {
    const [id, kind] = [String(row["request_id"]), String(row["kind"])];
    if (kinds.has(`${id} ${kind}`)) twice.add(`${id}: two rows ${kind}`);
    kinds.add(`${id} ${kind}`);
    booked.set(id, (booked.get(id) ?? 0) - Number(row["quota"]));
  }
  for (const id of repeated(logs.map((row) => String(row["request_id"])))) twice.add(`${id}: two log rows`);
  const logged = new Map(logs.map((row) => [String(row["request_id"]), Number(row["quota"])]));
  return {
    findings: {
      twice: [...twice],
      ...compare(outcomes, booked, logged),
      unequal: [
        ...(await accounts(database)).flatMap(([name, row]) => disagreement(name, row, baseline.get(name))),
        ...(await budgetFindings(database)),
      ],
      leftover: await expired(database),
    },
    charges: booked.size,
    charged: [...booked.values()].reduce((sum, quota) => sum + quota, 0),
  };
}

export function isClean(findings: Findings): boolean {
  return Object.values(findings).every((list: readonly string[]) => list.length === 0);
}

export function compare(
  outcomes: readonly Outcome[],
  booked: ReadonlyMap<string, number>,
  logged: ReadonlyMap<string, number>,
): Pick<Findings, "lost" | "wrong"> {
  const lost: string[] = [];
  const wrong: string[] = [];
  for (const { id, completion, ask, replica, status } of outcomes) {
    if (id === undefined) continue;
    const [charge, log] = [booked.get(id), logged.get(id)];
    const what = `${id} (${ask.kind} of ${replica}, ${completion} ${status})`;
    const isDelivered = completion === "delivered";
    if (isDelivered && charge === undefined) lost.push(`${what}: no ledger row`);
    if (isDelivered && log === undefined) lost.push(`${what}: no log row`);
    const due = isDelivered ? PRICE : completion === "refused" ? 0 : undefined;
    const isWrong = (amount: number | undefined) => amount !== undefined && due !== undefined && amount !== due;
    if (isWrong(charge)) wrong.push(`${what}: charged ${charge}, not ${due}`);
    if (isWrong(log)) wrong.push(`${what}: logged ${log}, not ${due}`);
  }
  return { lost, wrong };
}

/** Returns changes of one account that the ledger does not explain. */
export function disagreement(name: string, now: Row, before: Row = {}): string[] {
  const change = (column: string) => (now[column] ?? 0) - (before[column] ?? 0);
  const used = -change("charged");
  const expected: Record<string, number> = { used, logged: used };
  if ("requests" in now) Object.assign(expected, { quota: change("booked"), requests: change("settled") });
  if ("remain" in now) expected["remain"] = now["unlimited"] === 1 ? 0 : -used;
  return Object.entries(expected)
    .filter(([column, value]) => change(column) !== value)
    .map(([column, value]) => `${name}: ${column} changed by ${change(column)}, the ledger says ${value}`);
}

async function accounts(database: string): Promise<[string, Row][]> {
  const all: [string, Row][] = [];
  for (const [table, sql] of Object.entries(ACCOUNTS)) {
    for (const row of await runSql(database, sql)) {
      const numbers = Object.fromEntries(Object.entries(row).map(([column, value]) => [column, Number(value)]));
      all.push([`${table}:${numbers["id"]}`, numbers]);
    }
  }
  return all;
}

async function expired(database: string): Promise<string[]> {
  const rows = await runSql(database, `select request_id from holds where lease_until < ${Date.now() - SWEEP_MS}`);
  return rows.map((row) => `${String(row["request_id"])}: a reservation in the database`);
}

function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
}
