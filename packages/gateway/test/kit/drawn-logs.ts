import { propertyRuns } from "@fairway/testkit/property-runs";
import { LOG_TYPE } from "@fairway/wire";
import fc from "fast-check";
import { createMatcher, type LogQuery } from "../../src/resources/logs/filter.ts";
import { createLogStore, type LogStore } from "../../src/resources/logs/store.ts";
import type { StoredLog } from "../../src/resources/logs/view.ts";
import { FACET_MARK } from "../../src/resources/statistics/facet-sums.ts";
import { rollUpStatistics, STATISTICS_MARK } from "../../src/resources/statistics/rollup.ts";
import type { LogRowInput } from "../../src/storage/log-rows.ts";
import { insertLogs } from "./log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "./store-kit.ts";

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
/** The first second of a day, ten days before the clock of the tests. */
export const BEGIN = START_SECONDS - (START_SECONDS % DAY) - 10 * DAY;
const NAMES = ["ann", "bob", "eve"];

/** A row of the log that properties draw. */
export type DrawnRow = Pick<
  LogRowInput,
  "user_id" | "username" | "type" | "created_at" | "model_name" | "token_name" | "group" | "channel_id" | "other"
>;

/** Few, so that several rows share one. */
const hourArbitrary = fc.constantFrom<number[]>(0, 1, 23, 24, 70, 71, 72, 73, 120, 168, 200, 239);

const rowsArbitrary = fc.array(
  fc.record({
    user: fc.nat(2),
    type: fc.constantFrom(1, 2, 2, 2, 2, 3, 4, 5),
    // The last is later than the clock.
    hour: fc.oneof({ weight: 20, arbitrary: hourArbitrary }, fc.constant(270)),
    // Some share five minutes with the time up to which rows are removed.
    second: fc.constantFrom(0, 1, 200, 650, 800, 1_800, HOUR - 1),
    model: fc.constantFrom("gpt-4o", "claude", "__proto__", "1", ""),
    token: fc.constantFrom("a", "b", 'with "quotes"', ""),
    group: fc.constantFrom("default", "vip"),
    channel: fc.nat(3),
    status: fc.constantFrom(400, 429, 502),
  }),
  { minLength: 1, maxLength: 60 },
);

type Drawn = typeof rowsArbitrary extends fc.Arbitrary<(infer One)[]> ? One : never;

export function buildRow({ user, type, hour, second, model, token, group, channel, status }: Drawn): DrawnRow {
  return {
    user_id: user + 1,
    username: NAMES[user] ?? "",
    type,
    created_at: BEGIN + hour * HOUR + second,
    model_name: model,
    token_name: token,
    group,
    channel_id: channel,
    other: type === 5 ? `{"status_code":${status},"error_code":"code_${status}","message":"m"}` : "",
  };
}

/** Whether a filter matches, with its period. */
function isMatch(row: DrawnRow, query: LogQuery): boolean {
  // The filters of these properties name no other column.
  return createMatcher(query)(row as StoredLog);
}

/** A log with its sums, and a copy of its rows to compare with. */
export interface DrawnLogs extends StoreKit {
  readonly store: LogStore;
  /** The rows that match a filter. */
  listRows(query: LogQuery): readonly DrawnRow[];
  empty(): Promise<void>;
  insert(rows: readonly DrawnRow[]): Promise<void>;
  /** Removes the rows before a time; of one type, or of all. */
  remove(before: number, type?: number): Promise<void>;
  rollUp(): Promise<unknown>;
  /** As a program that knows the sums with these marks only. */
  moveMarks(topics: readonly string[]): Promise<void>;
}

/** What a program before the sums of the log moves, and one before the sums of users. */
export const OLDER_MARKS = {
  beforeLogSums: [STATISTICS_MARK, FACET_MARK],
  beforeFacetSums: [STATISTICS_MARK],
} as const;

export async function openDrawnLogs(url: string): Promise<DrawnLogs> {
  const kit = await openStoreKit(url);
  const { database, logs } = kit;
  const store = createLogStore({ ...kit, database: logs, sums: database });
  let rows: DrawnRow[] = [];
  return {
    ...kit,
    store,
    listRows: (query) => rows.filter((row) => isMatch(row, query)),
    async empty() {
      kit.clock.set(START_SECONDS);
      await logs.db.deleteFrom("logs").execute();
      for (const table of ["facet_sums", "log_sums", "usage_statistics", "revisions"] as const)
        await database.db.deleteFrom(table).execute();
      rows = [];
    },
    async insert(more) {
      await insertLogs(logs, more);
      rows.push(...more);
    },
    async remove(before, type) {
      const old = logs.db.deleteFrom("logs").where("created_at", "<", before);
      await (type === undefined ? old : old.where("type", "=", type)).execute();
      rows = rows.filter((row) => row.created_at >= before || (type !== undefined && row.type !== type));
    },
    rollUp: () => rollUpStatistics({ ...kit, settleMs: 0 }, new AbortController().signal),
    async moveMarks(topics) {
      const moved = database.db.updateTable("revisions").set({ revision: await store.newestId() });
      await moved.where("topic", "in", topics).execute();
    },
  };
}

const statesArbitrary = fc.record({
  one: rowsArbitrary,
  two: rowsArbitrary,
  rowsFrom: hourArbitrary,
  errorsFrom: hourArbitrary,
});

/** Checks drawn logs whose rows are all in the sums, in part, and removed in part. */
export async function checkStates(logs: DrawnLogs, check: () => Promise<void>, most: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(statesArbitrary, async ({ one, two, rowsFrom, errorsFrom }) => {
      await logs.empty();
      await logs.insert(one.map(buildRow));
      await logs.rollUp();
      await check();
      await logs.insert(two.map(buildRow));
      await check();
      await logs.remove(BEGIN + errorsFrom * HOUR + 700, LOG_TYPE.error);
      await check();
      await logs.remove(BEGIN + rowsFrom * HOUR + 90);
      await logs.rollUp();
      await check();
    }),
    // A state takes thousands of statements.
    { numRuns: propertyRuns(logs.logs.kind === "clickhouse" ? 3 : most) },
  );
}
