import { MAX_REPORT_SECONDS } from "@fairway/wire";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { readMark } from "../usage-data/log-mark.ts";
import type { AlikeRows } from "./alike-rows.ts";
import { addCacheSums, CACHE_SUMS_GAP, CACHE_SUMS_MARK, gatherCacheSums } from "./cache-sums/gather.ts";
import { addSlots } from "./counted-rows.ts";
import { DAY } from "./dimensions.ts";
import { FACET_MARK, FACET_SUMS, gatherFacets, LATER_SUMS_GAP } from "./facet-sums.ts";
import { gatherLogSums, LOG_SUMS, LOG_SUMS_GAP, LOG_SUMS_MARK } from "./log-sums.ts";
import { addReportSums } from "./report-sums/add.ts";
import { USUAL_BOUNDS, type SumBounds } from "./report-sums/bound.ts";
import { gatherReportSums, REPORT_SUMS_GAP, REPORT_SUMS_MARK } from "./report-sums/gather.ts";

/**
 * Sums that were introduced after the statistics. They advance with the same mark, which an older program advances
 * without them.
 */
const LATER_SUMS: readonly LaterSums[] = [
  {
    mark: FACET_MARK,
    gapTopic: LATER_SUMS_GAP,
    gather(groups) {
      const slots = gatherFacets(groups);
      return (tx, kind) => addSlots(tx, kind, FACET_SUMS, slots);
    },
  },
  {
    mark: LOG_SUMS_MARK,
    gapTopic: LOG_SUMS_GAP,
    gather(groups, { trim }) {
      const slots = gatherLogSums(groups, trim);
      return (tx, kind) => addSlots(tx, kind, LOG_SUMS, slots);
    },
  },
  {
    mark: REPORT_SUMS_MARK,
    gapTopic: REPORT_SUMS_GAP,
    gather(groups, { trim, bounds }) {
      const sums = gatherReportSums(groups, trim);
      return (tx, kind) => addReportSums(tx, kind, sums, bounds);
    },
  },
  {
    mark: CACHE_SUMS_MARK,
    gapTopic: CACHE_SUMS_GAP,
    gather(groups, { trim }) {
      const sums = gatherCacheSums(groups, trim);
      return (tx, kind) => addCacheSums(tx, kind, sums);
    },
  },
];

/** Writes what a pass adds; it changes nothing that it would need again, because the database may abort and retry. */
type WriteSums = (tx: RawTransaction, kind: Database["kind"]) => Promise<void>;

interface GatherRules {
  readonly trim: (text: string) => string;
  readonly bounds: SumBounds;
}

interface LaterSums {
  readonly mark: string;
  readonly gapTopic: string;
  readonly gather: (groups: readonly AlikeRows[], rules: GatherRules) => WriteSums;
}

interface Databases {
  readonly database: Database;
  readonly logs: LogDatabase;
  readonly clock: Clock;
}

interface PassDeps extends Databases {
  readonly bounds?: SumBounds;
}

interface Addition {
  readonly mark: string;
  readonly gapTopic: string;
  /** Time up to which rows were left out; 0 if none were. */
  readonly gap: number;
  readonly write: WriteSums;
}

export interface LaterPass {
  /** Id of the last added row. */
  readonly to: number;
  readonly additions: readonly Addition[];
}

const HOURS_AT_ONCE = 48;
const SLICES_AT_ONCE = 600;
const REVISION = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], replace: ["revision"] } as const;

/** Returns what the groups of the rows after `from` up to `to` add. */
export async function laterPass(
  deps: PassDeps,
  groups: readonly AlikeRows[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<LaterPass> {
  const additions: Addition[] = [];
  const rules = { trim: createTrim(deps), bounds: deps.bounds ?? USUAL_BOUNDS };
  for (const { mark, gapTopic, gather } of LATER_SUMS)
    additions.push({ mark, gapTopic, gap: await gapBefore(deps, mark, from), write: gather(groups, rules) });
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
  for (const { mark, gapTopic, gap, write } of additions) {
    await write(tx, kind);
    await tx.run(upsertSql(kind, REVISION), [mark, to]);
    if (gap > 0) await tx.run(upsertSql(kind, REVISION), [gapTopic, gap]);
  }
}

/** Time after which the sums of reports and of prompt caches are removed: the longest period of a report. */
const REPORT_SECONDS = MAX_REPORT_SECONDS + DAY;

/**
 * Removes sums of rows that are no longer in the log, and old ones of reports and prompt caches, a few intervals at a time, oldest first.
 */
export async function removeOldSums(databases: Databases): Promise<void> {
  await removeOldReportSums(databases);
  const { logs, database } = databases;
  const { db } = database;
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

async function removeOldReportSums({ database: { db }, clock }: Databases): Promise<void> {
  const oldest = seconds(clock) - REPORT_SECONDS;
  for (const table of ["report_sums", "report_values", "cache_sums"] as const) {
    for (let turn = 0; turn < HOURS_AT_ONCE; turn++) {
      const first = await db.selectFrom(table).select("start").orderBy("start").limit(1).executeTakeFirst();
      if (!first || first.start >= oldest) break;
      await db.deleteFrom(table).where("start", "=", first.start).execute();
    }
  }
}
