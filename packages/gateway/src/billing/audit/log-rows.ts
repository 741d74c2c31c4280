import { LOG_TYPE } from "@fairway/wire";
import { createLogWriter } from "../../storage/log-rows.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { inList } from "../../storage/statements.ts";
import type { Difference } from "./difference.ts";
import { oldestRowTime, loggingPeriods } from "./logging-periods.ts";

export interface LogAuditDeps {
  readonly database: RawDatabase;
  /** The database of `logs`. */
  readonly logDatabase: Pick<RawTransaction, "rows" | "run">;
  readonly isLogSeparate: boolean;
  readonly isRepairing: boolean;
  /** Epoch milliseconds; charges of the last minute may not be logged yet. */
  readonly now: number;
}

interface LedgerRow {
  readonly id: number;
  readonly request_id: string;
  readonly user_id: number;
  readonly token_id: number;
  readonly channel_id: number;
  readonly quota: number;
  readonly created_at: number;
}

const AT_ONCE = 1_000;
const ON_ITS_WAY_MS = 60_000;
const CONTENT = "Restored from the ledger by an audit: the row of this request was lost.";

/**
 * Compares the log rows of charges with the ledger, by user and channel: lost rows, and rows with a different amount.
 * A repair recreates a lost row from the ledger, and sets a wrong amount to that of the ledger.
 */
export async function checkLogRows(deps: LogAuditDeps): Promise<Difference[]> {
  const since = await oldestRowTime(deps.logDatabase);
  const isLogged = await loggingPeriods(deps.database);
  const differences = new Map<string, Difference>();
  for await (const page of charges(deps.database)) {
    const settled = page.filter(({ created_at }) => {
      const at = Number(created_at);
      return at >= since && at < deps.now - ON_ITS_WAY_MS && isLogged(at);
    });
    const { lost, wrong, moved } = await compareWithLogs(settled, deps);
    for (const row of lost) add(differences, "log rows", row, 0);
    for (const { row, logged } of wrong) add(differences, "log amounts", row, logged);
    for (const row of moved) add(differences, "log owners", row, 0);
    if (!deps.isRepairing) continue;
    if (lost.length > 0) await restore(lost, deps);
    await setAmounts(wrong, deps);
    await setOwners(moved, deps);
  }
  return [...differences.values()];
}

function add(sums: Map<string, Difference>, what: Difference["what"], row: LedgerRow, logged: number): void {
  const account = `user ${row.user_id}, channel ${row.channel_id}`;
  const key = `${what} ${account}`;
  const { found, expected } = sums.get(key) ?? { found: 0, expected: 0 };
  sums.set(key, { what, account, found: found + logged, expected: expected - row.quota });
}

/** Charges above zero in ledger order, each including its correction. */
async function* charges(database: RawDatabase): AsyncGenerator<LedgerRow[]> {
  const sql = `select id, request_id, user_id, token_id, channel_id, quota, created_at from ledger
    where id > ? and kind = 'consume' order by id limit ${AT_ONCE}`;
  let after = 0;
  for (;;) {
    const rows = await database.rows<LedgerRow>(sql, [after]);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    const { marks, values } = inList(rows.map(({ request_id }) => request_id));
    const corrections = await database.rows<Pick<LedgerRow, "request_id" | "quota" | "channel_id">>(
      `select request_id, channel_id, quota from ledger where kind = 'correct' and request_id in ${marks}`,
      values,
    );
    const correctionByRequest = new Map(corrections.map((row) => [row.request_id, row]));
    yield rows.map((row) => corrected(row, correctionByRequest.get(row.request_id))).filter(({ quota }) => quota !== 0);
  }
}

function corrected(row: LedgerRow, correction?: Pick<LedgerRow, "quota" | "channel_id">): LedgerRow {
  const quota = Number(row.quota) + Number(correction?.quota ?? 0);
  return { ...row, quota, channel_id: correction?.channel_id ?? row.channel_id };
}

interface Compared {
  readonly lost: readonly LedgerRow[];
  readonly wrong: readonly { readonly row: LedgerRow; readonly logged: number }[];
  /** Charges whose log rows name another user, token or channel. */
  readonly moved: readonly LedgerRow[];
}

interface Logged {
  readonly request_id: string;
  readonly quota: number;
  readonly users: string;
  readonly tokens: string;
  readonly channels: string;
}

async function compareWithLogs(rows: readonly LedgerRow[], deps: LogAuditDeps): Promise<Compared> {
  if (rows.length === 0) return { lost: [], wrong: [], moved: [] };
  const { marks, values } = inList(rows.map(({ request_id }) => request_id));
  const waiting = deps.isLogSeparate
    ? await deps.database.rows<{ request_id: string }>(
        `select request_id from log_outbox where request_id in ${marks}`,
        values,
      )
    : [];
  const isWaiting = new Set(waiting.map(({ request_id }) => request_id));
  const sums = await deps.logDatabase.rows<Logged>(
    `select request_id, sum(quota) as quota, ${OWNERS} from logs where type = ? and request_id in ${marks} group by request_id`,
    [LOG_TYPE.consume, ...values],
  );
  const loggedSumByRequest = new Map(sums.map((row) => [row.request_id, row]));
  const known = rows.filter(({ request_id }) => !isWaiting.has(request_id));
  return {
    lost: known.filter(({ request_id }) => !loggedSumByRequest.has(request_id)),
    wrong: known.flatMap((row) => {
      const logged = loggedSumByRequest.get(row.request_id);
      const sum = Number(logged?.quota);
      return logged === undefined || sum === 0 - row.quota ? [] : [{ row, logged: sum }];
    }),
    moved: known.filter((row) => isElsewhere(row, loggedSumByRequest.get(row.request_id))),
  };
}

/** The lowest and the highest value of each column, because several rows of one request may differ. */
const OWNERS = [
  ["users", "user_id"],
  ["tokens", "token_id"],
  ["channels", "channel_id"],
]
  .map(([name, column]) => `concat(min(${column}), ' ', max(${column})) as ${name}`)
  .join(", ");

function isElsewhere({ user_id, token_id, channel_id }: LedgerRow, logged: Logged | undefined): boolean {
  if (!logged) return false;
  const both = (id: number) => `${id} ${id}`;
  return logged.users !== both(user_id) || logged.tokens !== both(token_id) || logged.channels !== both(channel_id);
}

/**
 * Sets the owners that the ledger names; balances and counters agree with the ledger, or their sums show the
 * difference.
 */
async function setOwners(moved: Compared["moved"], { logDatabase }: LogAuditDeps): Promise<void> {
  for (const { request_id, user_id, token_id, channel_id } of moved)
    await logDatabase.run(
      "update logs set user_id = ?, token_id = ?, channel_id = ? where request_id = ? and type = ?",
      [user_id, token_id, channel_id, request_id, LOG_TYPE.consume],
    );
}

/**
 * Repairs requests with a single log row; among several rows, the wrong one is unknown. Reads the ledger again for
 * corrections.
 */
async function setAmounts(wrong: Compared["wrong"], { database, logDatabase }: LogAuditDeps): Promise<void> {
  for (const { row } of wrong) {
    const keys = [row.request_id, LOG_TYPE.consume];
    const ids = await logDatabase.rows<{ id: number }>("select id from logs where request_id = ? and type = ?", keys);
    const [only] = ids;
    const [sum] = await database.rows<{ quota: number }>(
      "select sum(quota) as quota from ledger where request_id = ? and kind in ('consume', 'correct')",
      [row.request_id],
    );
    if (ids.length === 1 && only && sum)
      await logDatabase.run("update logs set quota = ? where id = ?", [0 - Number(sum.quota), only.id]);
  }
}

/** Writes to the main database; the outbox moves rows to a separate log database. */
async function restore(rows: readonly LedgerRow[], { database, isLogSeparate }: LogAuditDeps): Promise<void> {
  const write = createLogWriter(isLogSeparate);
  const { marks, values } = inList([...new Set(rows.map(({ user_id }) => user_id))]);
  const names = await database.rows<{ id: number; username: string }>(
    `select id, username from users where id in ${marks}`,
    values,
  );
  const usernameById = new Map(names.map(({ id, username }) => [id, username]));
  await database.transaction(async (tx) => {
    for (const { request_id, user_id, token_id, channel_id, quota, created_at } of rows)
      await write(tx, {
        user_id,
        username: usernameById.get(user_id) ?? "",
        created_at: Math.floor(Number(created_at) / 1_000),
        type: LOG_TYPE.consume,
        content: CONTENT,
        quota: 0 - Number(quota),
        channel_id,
        token_id,
        request_id,
        other: JSON.stringify({ restored: true }),
      });
  });
}
