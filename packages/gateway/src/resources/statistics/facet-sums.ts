import { LOG_TYPE } from "@fairway/wire";
import { inChunks } from "../../lib/chunks.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { readMark } from "../usage-data/log-mark.ts";
import { DAY, HOUR } from "./dimensions.ts";
import { addColumns, addError, addText, noCounts, textOfCounts, type FacetCounts } from "./facet-counts.ts";
import type { GatheredLog } from "./gather.ts";

/** Row of `revisions` with the id of the last log row in the facet sums. */
export const FACET_MARK = "facet-sums";
/** Row of `revisions` with the time (seconds) up to which the sums of facets and of attempts may lack rows. */
export const LATER_SUMS_GAP = "facet-sums-gap";

interface FacetSlot {
  readonly userId: number;
  readonly span: number;
  readonly start: number;
  readonly type: number;
  readonly username: string;
  rows: number;
  /** Undefined when a facet has too many values. */
  counts: FacetCounts | undefined;
}

export interface FacetPass {
  /** Id of the last row that is added. */
  readonly to: number;
  /** Time up to which rows were left out; 0 = none were. */
  readonly gap: number;
  readonly slots: readonly FacetSlot[];
}

const SLOTS_AT_ONCE = 100;
const HOURS_AT_ONCE = 48;
const KEY = ["user_id", "span", "start", "type", "username"] as const;
const COLUMNS = [...KEY, "log_rows", "counts"];
const ADD = { table: "facet_sums", columns: COLUMNS, key: KEY, add: ["log_rows"], replace: ["counts"] } as const;
const REVISION = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], replace: ["revision"] } as const;

/** Counts the rows of a pass by user, type, hour and day. */
export function gatherFacets(rows: readonly GatheredLog[]): FacetSlot[] {
  const slots = new Map<string, FacetSlot>();
  for (const row of rows) {
    // MariaDB compares texts without the spaces at their end.
    const username = row.username.trimEnd();
    for (const span of [HOUR, DAY]) {
      const start = row.created_at - (row.created_at % span);
      const key = `${row.user_id} ${span} ${start} ${row.type} ${username}`;
      let slot = slots.get(key);
      if (!slot) {
        slot = { userId: row.user_id, span, start, type: row.type, username, rows: 0, counts: noCounts() };
        slots.set(key, slot);
      }
      slot.rows++;
      if (!slot.counts) continue;
      addColumns(slot.counts, row, 1);
      if (row.type === LOG_TYPE.error) addError(slot.counts, row.other);
    }
  }
  return [...slots.values()];
}

/**
 * Time up to which these sums lack rows when rows after `mark` are added next; 0 when they hold every row before. They
 * lack rows when a program that does not know them, or another log, moved the mark of the statistics.
 */
export async function gapBefore(
  { database, logs, clock }: { readonly database: Database; readonly logs: Database; readonly clock: Clock },
  mark: number,
): Promise<number> {
  if ((await readMark(database, FACET_MARK)) === mark) return 0;
  const newest = await logs.db
    .selectFrom("logs")
    .select((eb) => eb.fn.max("created_at").as("time"))
    .executeTakeFirst();
  return Math.max(seconds(clock), Number(newest?.time ?? 0)) + 1;
}

/** Adds a pass in the transaction that moves the mark of the statistics, whose lock lets texts be read and merged. */
export async function addFacets(
  tx: RawTransaction,
  kind: Database["kind"],
  { to, gap, slots }: FacetPass,
): Promise<void> {
  for (const some of inChunks(slots, SLOTS_AT_ONCE)) {
    await mergeStored(tx, some);
    await tx.run(upsertSql(kind, ADD, some.length), some.flatMap(valuesOf));
  }
  await tx.run(upsertSql(kind, REVISION), [FACET_MARK, to]);
  if (gap > 0) await tx.run(upsertSql(kind, REVISION), [LATER_SUMS_GAP, gap]);
}

interface StoredRow {
  readonly user_id: number;
  readonly span: number;
  readonly start: number;
  readonly type: number;
  readonly username: string;
  readonly counts: string;
}

async function mergeStored(tx: RawTransaction, slots: readonly FacetSlot[]): Promise<void> {
  const one = `select ${KEY.join(", ")}, counts from facet_sums where ${KEY.map((name) => `${name} = ?`).join(" and ")}`;
  const text = slots.map(() => one).join(" union all ");
  const rows = await tx.rows<StoredRow>(text, slots.flatMap(keyOf));
  const stored = new Map(rows.map((row) => [KEY.map((name) => row[name]).join(" "), row.counts]));
  for (const slot of slots) {
    const counts = stored.get(keyOf(slot).join(" "));
    if (counts === undefined) continue;
    if (counts === "") slot.counts = undefined;
    else if (slot.counts) addText(slot.counts, counts);
  }
}

function keyOf({ userId, span, start, type, username }: FacetSlot): (string | number)[] {
  return [userId, span, start, type, username];
}

function valuesOf(slot: FacetSlot): (string | number)[] {
  return [...keyOf(slot), slot.rows, slot.counts ? textOfCounts(slot.counts) : ""];
}

/** Removes sums of rows that are no longer in the log, a few hours at a time, oldest first. */
export async function removeOldFacets({ db }: Database, logs: Database): Promise<void> {
  const rows = logs.db.selectFrom("logs").select("created_at").orderBy("created_at").orderBy("id").limit(1);
  const oldest = await rows.executeTakeFirst();
  if (!oldest) return;
  for (let turn = 0; turn < HOURS_AT_ONCE; turn++) {
    const first = await db.selectFrom("facet_sums").select("start").orderBy("start").limit(1).executeTakeFirst();
    if (!first || first.start >= oldest.created_at - DAY) return;
    await db.deleteFrom("facet_sums").where("start", "=", first.start).execute();
  }
}
