import { OTHER_VALUE } from "@fairway/wire";
import { inChunks } from "../../../lib/chunks.ts";
import type { Database } from "../../../storage/database.ts";
import type { RawTransaction } from "../../../storage/engines/raw.ts";
import { upsertSql } from "../../../storage/inserts.ts";
import { rowsByKey } from "../../../storage/keyed-rows.ts";
import { DAY } from "../dimensions.ts";
import { addSum, buildSumKey, CUBE, type CubeNumber, type ReportSum, type SumKey } from "./gather.ts";

/** How many values of an account and a day have sums of their own; further ones are summed as `~other`. */
export interface SumBounds {
  /** Values of each tag key, and models. */
  readonly values: number;
  readonly endUsers: number;
}

export const USUAL_BOUNDS: SumBounds = { values: 500, endUsers: 5_000 };

const KEYS_AT_ONCE = 100;
/** Pairs of a tag's value and a model, for each value that is allowed. */
const MODELS_PER_VALUE = 4;
const SUMS = {
  table: "report_sums",
  key: ["cube", "tag_key", "span", "owner_id", "start", "value", "model"],
  texts: ["tag_key", "value", "model"],
  columns: [],
} as const;
const VALUE_KEY = ["cube", "tag_key", "owner_id", "start"] as const;
const VALUES = { table: "report_values", key: VALUE_KEY, texts: ["tag_key"], columns: ["counted"] } as const;
const COUNT = {
  table: "report_values",
  columns: [...VALUE_KEY, "counted", "left_out"],
  key: VALUE_KEY,
  add: ["counted", "left_out"],
} as const;

/**
 * Joins values beyond the bounds as `~other`, so that clients that invent values add no rows and hide no money. A value
 * that has a sum on a day retains it on that day. Changes no given sum: a transaction that the database aborts is
 * retried. The caller holds a lock against concurrent writers.
 */
export async function boundSums(
  tx: RawTransaction,
  kind: Database["kind"],
  sums: readonly ReportSum[],
  bounds: SumBounds,
): Promise<ReportSum[]> {
  const plain = { tx, kind };
  const models = await findExcess(plain, sums, { cube: CUBE.model, most: bounds.values });
  const endUsers = await findExcess(plain, sums, { cube: CUBE.endUser, most: bounds.endUsers });
  const tags = await findExcess(plain, sums, { cube: CUBE.tag, most: bounds.values });
  const named = joinExcess(sums, (key) => {
    const model = models.has(buildDayName({ ...key, cube: CUBE.model, tagKey: "", value: "" }))
      ? OTHER_VALUE
      : key.model;
    if (key.cube === CUBE.model) return { ...key, model };
    if (key.cube === CUBE.endUser) return endUsers.has(buildDayName(key)) ? { ...key, value: OTHER_VALUE } : key;
    if (key.cube !== CUBE.tag && key.cube !== CUBE.tagModel) return key;
    const isOther = tags.has(buildDayName({ ...key, cube: CUBE.tag, model: "" }));
    return { ...key, value: isOther ? OTHER_VALUE : key.value, model: key.cube === CUBE.tag ? "" : model };
  });
  const most = MODELS_PER_VALUE * bounds.values;
  const pairs = await findExcess(plain, named, { cube: CUBE.tagModel, most });
  return joinExcess(named, (key) =>
    key.cube === CUBE.tagModel && pairs.has(buildDayName(key)) ? { ...key, value: OTHER_VALUE } : key,
  );
}

function joinExcess(sums: readonly ReportSum[], rename: (key: SumKey) => SumKey): ReportSum[] {
  const joined = new Map<string, ReportSum>();
  for (const { key, figures } of sums) addSum(joined, rename(key), figures);
  return [...joined.values()];
}

/** Names the sum of the day that a key belongs to. */
function buildDayName(key: SumKey): string {
  return buildSumKey({ ...key, span: DAY, start: key.start - (key.start % DAY) }).join("\n");
}

interface Writer {
  readonly tx: RawTransaction;
  readonly kind: Database["kind"];
}

interface Bound {
  readonly cube: CubeNumber;
  readonly most: number;
}

/** Returns the names of the sums of days that have no room, and notes how many values each day has. */
async function findExcess(
  writer: Writer,
  sums: readonly ReportSum[],
  { cube, most }: Bound,
): Promise<ReadonlySet<string>> {
  const days = sums.flatMap(({ key }) => (key.cube === cube && key.span === DAY && isBounded(key) ? [key] : []));
  const stored = await readStored(writer, days);
  const fresh = days.filter((key) => !stored.has(buildDayName(key)));
  const byDay = Map.groupBy(fresh, (key) => buildDayKey(key).join("\n"));
  const counts = await readCounts(writer, [...byDay.values()]);
  const excess = new Set<string>();
  const rows: (string | number)[][] = [];
  for (const [day, keys] of byDay) {
    const room = Math.max(0, most - (counts.get(day) ?? 0));
    for (const key of keys.slice(room)) excess.add(buildDayName(key));
    const [first] = keys;
    const counted = Math.min(room, keys.length);
    if (first) rows.push([...buildDayKey(first), counted, keys.length - counted]);
  }
  for (const some of inChunks(rows, KEYS_AT_ONCE))
    await writer.tx.run(upsertSql(writer.kind, COUNT, some.length), some.flat());
  return excess;
}

/** Calls without a value, and those that a policy has joined already, always have a sum. */
function isBounded({ cube, value, model }: SumKey): boolean {
  const name = cube === CUBE.model ? model : value;
  return name !== "" && name !== OTHER_VALUE;
}

function buildDayKey({ cube, tagKey, ownerId, start }: SumKey): (string | number)[] {
  return [cube, tagKey, ownerId, start];
}

type StoredKey = Readonly<Record<(typeof SUMS.key)[number], string | number>>;

async function readStored({ tx, kind }: Writer, days: readonly SumKey[]): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (const some of inChunks(days, KEYS_AT_ONCE))
    for (const row of await rowsByKey<StoredKey>(tx, kind, SUMS, some.map(buildSumKey)))
      stored.add(SUMS.key.map((name) => row[name]).join("\n"));
  return stored;
}

type StoredCount = Readonly<Record<(typeof VALUE_KEY)[number] | "counted", string | number>>;

async function readCounts(
  { tx, kind }: Writer,
  byDay: readonly (readonly SumKey[])[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const keys = byDay.flatMap(([first]) => (first ? [buildDayKey(first)] : []));
  for (const some of inChunks(keys, KEYS_AT_ONCE))
    for (const row of await rowsByKey<StoredCount>(tx, kind, VALUES, some))
      counts.set(VALUE_KEY.map((name) => row[name]).join("\n"), Number(row.counted));
  return counts;
}
