import type { Kysely } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { areIdsInOrder, type LogDatabase } from "../../storage/log-database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { rowsByKey } from "../../storage/keyed-rows.ts";
import { newestLogId } from "../../storage/newest-log.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { findPassEnd, moveMark, readMark, SETTLE_MS, waitUnlessAborted } from "../usage-data/log-mark.ts";
import { GATHERED, groupAlike, type GatheredLog } from "./alike-rows.ts";
import { gather, type Slot } from "./gather.ts";
import { formatHistogram, withText } from "./histogram.ts";
import { addLaterPass, laterPass, removeOldSums, type LaterPass } from "./later-sums.ts";
import type { SumBounds } from "./report-sums/bound.ts";
import { STATISTICS_UNTIL } from "./store.ts";

export interface StatisticsRollupDeps {
  /** Database of the sums and their mark. */
  readonly database: Database;
  /** Database of the log; the same one unless logs have their own. */
  readonly logs: LogDatabase;
  readonly clock: Clock;
  /** Time after which a run leaves the rest of a long log to the next one. */
  readonly budgetMs?: number;
  /** Maximum duration of uncommitted rows, unless rows become visible in the order of their ids. */
  readonly settleMs?: number;
  /** Rows that are added at once. More rows share sums, but occupy memory and the database for longer. */
  readonly rowsPerPass?: number;
  /** How many values of tags, models and end users have sums of their own. */
  readonly bounds?: SumBounds;
  /** Called before each write; throws if another replica leads. */
  readonly confirm?: () => Promise<void>;
}

/** Row of `revisions` whose number is the id of the last log row in the sums. */
export const STATISTICS_MARK = "usage-statistics";
/** Rows per pass; a statement blocks the whole process on SQLite. */
const ROWS_PER_PASS: Readonly<Record<Database["kind"], number>> = { mysql: 10_000, postgres: 10_000, sqlite: 2_000 };
const BUDGET_MS = 30_000;
const SLOTS_AT_ONCE = 100;
const KEY = ["span", "dimension", "owner_id", "subject", "start"] as const;
const COUNTS = ["calls", "errors", "refused", "quota", "input_tokens", "output_tokens"] as const;
const HISTOGRAMS = ["latency", "first_token"] as const;
const COLUMNS = [...KEY, ...COUNTS, ...HISTOGRAMS];
const ADD = { table: "usage_statistics", columns: COLUMNS, key: KEY, add: COUNTS, replace: HISTOGRAMS } as const;
const STORED = { table: "usage_statistics", key: KEY, texts: ["subject"], columns: HISTOGRAMS } as const;
const UNTIL = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], replace: ["revision"] } as const;

/**
 * Adds the calls logged since the last run to the sums, each exactly once: the mark moves in the transaction of the
 * sums, and only from its known value. Returns the number of processed ids.
 */
export async function rollUpStatistics(deps: StatisticsRollupDeps, signal: AbortSignal): Promise<number> {
  const { database, logs, clock } = deps;
  const settleMs = areIdsInOrder(logs) ? 0 : (deps.settleMs ?? SETTLE_MS);
  const until = seconds(clock) - 1;
  await removeOldSums(deps);
  const newest = await newestLogId(logs);
  const start = await readMark(database, STATISTICS_MARK);
  // Another log replaced the old one; its rows may already be in the sums.
  if (newest < start) {
    const later = await laterPass(deps, [], { from: newest, to: newest });
    await add(database, { slots: [], later }, { from: start, to: newest, until });
  }
  if (newest <= start) {
    // Rows that are still uncommitted may be older than this moment.
    await noteComplete(deps, until - Math.ceil(settleMs / 1000));
    return 0;
  }
  await waitUnlessAborted(settleMs, signal);
  const end = clock.now() + (deps.budgetMs ?? BUDGET_MS);
  let mark = start;
  do {
    const next = await addPass(deps, { mark, newest, until });
    if (next === undefined) break;
    mark = next;
  } while (mark < newest && !signal.aborted && clock.now() < end);
  return mark - start;
}

interface PassStart {
  readonly mark: number;
  readonly newest: number;
  /** Time up to which calls are in the sums after `newest` is added. */
  readonly until: number;
}

/** Returns the id that was reached; undefined if another replica moved the mark in the meantime. */
async function addPass(deps: StatisticsRollupDeps, { mark, newest, until }: PassStart): Promise<number | undefined> {
  const { db } = deps.logs;
  const rowsPerPass = deps.rowsPerPass ?? ROWS_PER_PASS[deps.database.kind];
  const next = Math.min(newest, await findPassEnd(db, mark, rowsPerPass));
  const rows = await rowsBetween(db, mark, next);
  const reached = next === newest ? until : (rows.at(-1)?.created_at ?? 0);
  await deps.confirm?.();
  const groups = groupAlike(rows);
  const gathered = {
    slots: [...gather(groups).values()],
    later: await laterPass(deps, groups, { from: mark, to: next }),
  };
  return (await add(deps.database, gathered, { from: mark, to: next, until: reached })) ? next : undefined;
}

async function noteComplete({ database, confirm }: StatisticsRollupDeps, until: number): Promise<void> {
  await confirm?.();
  await database.raw.run(upsertSql(database.kind, UNTIL), [STATISTICS_UNTIL, until]);
}

/** Returns rows in the order of their ids, like the marks. */
function rowsBetween(db: Kysely<Schema>, from: number, to: number): Promise<GatheredLog[]> {
  return db.selectFrom("logs").where("id", ">", from).where("id", "<=", to).select(GATHERED).orderBy("id").execute();
}

interface Pass {
  readonly from: number;
  readonly to: number;
  readonly until: number;
}

interface AllSums {
  readonly slots: readonly Slot[];
  readonly later: LaterPass;
}

/**
 * Returns false if another replica moved the mark in the meantime. The moved mark is locked, so histograms can be read
 * and merged.
 */
function add({ raw, kind }: Database, { slots, later }: AllSums, pass: Pass): Promise<boolean> {
  return raw.transaction(async (tx) => {
    if (!(await moveMark(tx, STATISTICS_MARK, pass))) return false;
    for (const some of inChunks(slots, SLOTS_AT_ONCE)) {
      const stored = await readStored(tx, kind, some);
      const values = some.flatMap((slot) => buildSlotValues(slot, stored.get(buildSlotKey(slot).join(" "))));
      await tx.run(upsertSql(kind, ADD, some.length), values);
    }
    await addLaterPass(tx, kind, later);
    if (pass.until > 0) await tx.run(upsertSql(kind, UNTIL), [STATISTICS_UNTIL, pass.until]);
    return true;
  });
}

interface StoredRow {
  readonly span: number;
  readonly dimension: number;
  readonly owner_id: number;
  readonly subject: string;
  readonly start: number;
  readonly latency: string;
  readonly first_token: string;
}

/** Returns the stored rows that the slots add to, by their keys. */
async function readStored(
  tx: RawTransaction,
  kind: Database["kind"],
  slots: readonly Slot[],
): Promise<Map<string, StoredRow>> {
  const rows = await rowsByKey<StoredRow>(tx, kind, STORED, slots.map(buildSlotKey));
  return new Map(rows.map((row) => [KEY.map((name) => row[name]).join(" "), row]));
}

function buildSlotKey({ span, dimension, ownerId, subject, start }: Slot): (string | number)[] {
  return [span, dimension, ownerId, subject, start];
}

/** Builds the values without changing the slot: a transaction that the database aborts is retried. */
function buildSlotValues(slot: Slot, stored: StoredRow | undefined): (string | number)[] {
  const { sums } = slot;
  const texts = HISTOGRAMS.map((name) => formatHistogram(withText(sums[name], stored?.[name] ?? "")));
  return [...buildSlotKey(slot), ...COUNTS.map((name) => sums[name]), ...texts];
}
