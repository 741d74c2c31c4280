import { seconds, type Clock } from "../../lib/clock.ts";
import type { LogDatabase } from "../../storage/log-database.ts";
import { DAY, DIMENSION, type DimensionNumber } from "./dimensions.ts";
import { GATHERED, groupAlike, type GatheredLog } from "./alike-rows.ts";
import { gather, type Gathered } from "./gather.ts";
import { addSums, emptySums, type Sums } from "./sums.ts";

/** Maximum number of rows that a response reads; SQLite blocks the whole process during this time. */
const MAX_ROWS: Readonly<Record<LogDatabase["kind"], number>> = {
  mysql: 10_000,
  postgres: 10_000,
  clickhouse: 10_000,
  sqlite: 2_000,
};
/** Callers within this time share one result. */
const SHARED_SECONDS = 5;

export interface RecentQuery {
  readonly dimension: DimensionNumber;
  /** Undefined = everyone's calls. */
  readonly ownerId: number | undefined;
  /** Length of the period in seconds. */
  readonly seconds: number;
  /** "" = all subjects. */
  readonly subject: string;
}

export interface RecentUsage {
  /** The first second whose calls are all in the sums; later than requested if there are more rows than the limit. */
  readonly from: number;
  readonly to: number;
  readonly total: Sums;
  /** Sorted by quota, highest first. */
  readonly subjects: readonly (Sums & { readonly subject: string })[];
}

interface Read {
  readonly from: number;
  readonly to: number;
  readonly gathered: Gathered;
}

export type ReadRecent = (query: RecentQuery) => Promise<RecentUsage>;

/** Creates the sums of the last minutes, read from the log on request. */
export function createRecentUsage({ logs, clock, maxRows = MAX_ROWS[logs.kind] }: RecentDeps): ReadRecent {
  const answers = new Map<string, { readonly at: number; readonly read: Promise<Read> }>();
  const readRows = async ({ seconds: span, ownerId }: RecentQuery, to: number): Promise<Read> => {
    const rows = await newestRows(logs, { from: to - span + 1, ownerId, limit: maxRows });
    return { to, ...wholeSeconds(rows, to - span + 1, maxRows) };
  };
  return async (query) => {
    const now = seconds(clock);
    for (const [key, { at }] of answers) if (now - at >= SHARED_SECONDS) answers.delete(key);
    const key = `${query.seconds} ${query.ownerId ?? ""}`;
    const known = answers.get(key) ?? { at: now, read: readRows(query, now) };
    answers.set(key, known);
    try {
      return sumUsage(query, await known.read);
    } catch (error) {
      answers.delete(key);
      throw error;
    }
  };
}

export interface RecentDeps {
  /** Database of the log. */
  readonly logs: LogDatabase;
  readonly clock: Clock;
  readonly maxRows?: number;
}

interface Newest {
  readonly from: number;
  readonly ownerId: number | undefined;
  readonly limit: number;
}

/** Selects rows with the index on the time, or on a user and the time. */
function newestRows({ db }: LogDatabase, { from, ownerId, limit }: Newest): Promise<GatheredLog[]> {
  let rows = db.selectFrom("logs").where("created_at", ">=", from);
  if (ownerId !== undefined) rows = rows.where("user_id", "=", ownerId);
  return rows.select(GATHERED).orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
}

/** If rows were left out, the second of the oldest row is incomplete. */
function wholeSeconds(rows: readonly GatheredLog[], from: number, limit: number): Pick<Read, "from" | "gathered"> {
  const oldest = rows.at(-1)?.created_at ?? from;
  const isCut = rows.length === limit && oldest !== rows[0]?.created_at;
  if (isCut) return { from: oldest + 1, gathered: gather(groupAlike(rows.filter((row) => row.created_at > oldest))) };
  return { from: rows.length === limit ? oldest : from, gathered: gather(groupAlike(rows)) };
}

function sumUsage({ dimension, ownerId, subject }: RecentQuery, { from, to, gathered }: Read): RecentUsage {
  const subjects = new Map<string, Sums & { readonly subject: string }>();
  const total = emptySums();
  const isTotal = subject === "" ? selectTotalDimension(dimension, ownerId) : dimension;
  for (const slot of gathered.values()) {
    if (slot.span !== DAY || (subject !== "" && slot.subject !== subject)) continue;
    if (slot.dimension === isTotal) addSums(total, slot.sums);
    if (slot.dimension !== dimension) continue;
    const known = subjects.get(slot.subject) ?? { subject: slot.subject, ...emptySums() };
    subjects.set(slot.subject, known);
    addSums(known, slot.sums);
  }
  const ranked = [...subjects.values()].toSorted((a, b) => b.quota - a.quota || (a.subject < b.subject ? -1 : 1));
  return { from, to, total, subjects: ranked };
}

/** Returns the dimension of the total. Channels count attempts, and a call may have several. */
function selectTotalDimension(dimension: DimensionNumber, ownerId: number | undefined): DimensionNumber {
  if (ownerId !== undefined) return DIMENSION.user;
  return dimension === DIMENSION.channel ? DIMENSION.attempts : DIMENSION.all;
}
