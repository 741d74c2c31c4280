import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { readMark } from "../usage-data/log-mark.ts";
import { addSlots, type CountedSlot, type CountTable } from "./counted-rows.ts";
import { DAY } from "./dimensions.ts";
import { FACET_MARK, FACET_SUMS, gatherFacets, LATER_SUMS_GAP } from "./facet-sums.ts";
import type { GatheredLog } from "./gather.ts";
import { gatherLogSums, LOG_SUMS, LOG_SUMS_GAP, LOG_SUMS_MARK } from "./log-sums.ts";

/**
 * Sums that were introduced after the statistics. They advance with the same mark, which an older program advances
 * without them.
 */
const LATER_SUMS = [
  { of: FACET_SUMS, mark: FACET_MARK, gapTopic: LATER_SUMS_GAP, gather: gatherFacets },
  { of: LOG_SUMS, mark: LOG_SUMS_MARK, gapTopic: LOG_SUMS_GAP, gather: gatherLogSums },
] as const;

interface Databases {
  readonly database: Database;
  readonly logs: Database;
  readonly clock: Clock;
}

interface Addition {
  readonly of: CountTable;
  readonly mark: string;
  readonly gapTopic: string;
  /** Time up to which rows were left out; 0 if none were. */
  readonly gap: number;
  readonly slots: readonly CountedSlot[];
}

export interface LaterPass {
  /** Id of the last added row. */
  readonly to: number;
  readonly additions: readonly Addition[];
}

const HOURS_AT_ONCE = 48;
const SLICES_AT_ONCE = 600;
const REVISION = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], replace: ["revision"] } as const;

/** Returns what the rows after `from` up to `to` add. */
export async function laterPass(
  deps: Databases,
  rows: readonly GatheredLog[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<LaterPass> {
  const additions: Addition[] = [];
  const trim = createTrim(deps);
  for (const { of, mark, gapTopic, gather } of LATER_SUMS)
    additions.push({ of, mark, gapTopic, gap: await gapBefore(deps, mark, from), slots: gather(rows, trim) });
  return { to, additions };
}

/** Trims texts like MySQL and MariaDB, which compare them without trailing spaces. */
function createTrim({ database, logs }: Databases): (text: string) => string {
  const areIgnored = database.kind === "mysql" || logs.kind === "mysql";
  return areIgnored ? (text) => text.replace(/ +$/, "") : (text) => text;
}

/**
 * Returns the time up to which these sums lack rows if rows after `from` are added next; 0 if they contain every row
 * before. They lack rows if a program that does not know them, or another log, moved the mark of the statistics.
 */
async function gapBefore({ database, logs, clock }: Databases, mark: string, from: number): Promise<number> {
  if ((await readMark(database, mark)) === from) return 0;
  const newest = await logs.db
    .selectFrom("logs")
    .select((eb) => eb.fn.max("created_at").as("time"))
    .executeTakeFirst();
  return Math.max(seconds(clock), Number(newest?.time ?? 0)) + 1;
}

/**
 * Adds a pass in the transaction that moves the mark of the statistics; the mark's lock makes it safe to read and merge
 * texts.
 */
export async function addLaterPass(
  tx: RawTransaction,
  kind: Database["kind"],
  { to, additions }: LaterPass,
): Promise<void> {
  for (const { of, mark, gapTopic, gap, slots } of additions) {
    await addSlots(tx, kind, of, slots);
    await tx.run(upsertSql(kind, REVISION), [mark, to]);
    if (gap > 0) await tx.run(upsertSql(kind, REVISION), [gapTopic, gap]);
  }
}

/** Removes sums of rows that are no longer in the log, a few intervals at a time, oldest first. */
export async function removeOldSums({ db }: Database, logs: Database): Promise<void> {
  const rows = logs.db.selectFrom("logs").select("created_at").orderBy("created_at").orderBy("id").limit(1);
  const oldest = await rows.executeTakeFirst();
  if (!oldest) return;
  for (const [table, most] of [
    ["facet_sums", HOURS_AT_ONCE],
    ["log_sums", SLICES_AT_ONCE],
  ] as const) {
    for (let turn = 0; turn < most; turn++) {
      const first = await db.selectFrom(table).select("start").orderBy("start").limit(1).executeTakeFirst();
      if (!first || first.start >= oldest.created_at - DAY) break;
      await db.deleteFrom(table).where("start", "=", first.start).execute();
    }
  }
}
