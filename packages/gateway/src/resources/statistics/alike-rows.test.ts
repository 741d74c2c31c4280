import { LOG_TYPE } from "@fairway/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { groupAlike, type GatheredLog } from "./alike-rows.ts";
import { gatherFacets } from "./facet-sums.ts";
import { gather } from "./gather.ts";
import { gatherLogSums } from "./log-sums.ts";
import { gatherReportSums } from "./report-sums/gather.ts";

const attempt = (channel: number, outcome: string) => [channel, 0, 0, 1, 30, 200, "", outcome, "", "m", "h", ""];
const trace = (...attempts: unknown[]) =>
  JSON.stringify({ frt: 7, trace: { v: 1, by: "weight", ms: 40, c: [], a: attempts } });
const few = <T>(...values: T[]) => fc.constantFrom(...values);

const anyRow: fc.Arbitrary<GatheredLog> = fc.record({
  id: fc.nat(),
  type: few<number>(LOG_TYPE.consume, LOG_TYPE.error, LOG_TYPE.topup),
  user_id: few(1, 2),
  token_id: few(0, 1, 12),
  channel_id: few(0, 1, 2),
  username: few("ann", "ann ", "bob"),
  token_name: few("", "1", '","'),
  group: few("default", "vip"),
  model_name: few("a", "a ", "b"),
  quota: few(0, 5),
  prompt_tokens: few(0, 3),
  completion_tokens: few(0, 2),
  use_time: few(0, 4),
  created_at: few(86_399, 86_400, 86_699, 86_700, 90_000),
  other: few(
    "",
    trace(attempt(1, "ok")),
    trace(attempt(1, "upstream_error"), attempt(2, "ok")),
    '{"status_code":503,"error_code":"overloaded","outcome":"upstream_error","repeated":3}',
    '{"status_code":429,"error_code":"rate_limited","outcome":"rate_limited"}',
    '{"batch":{"succeeded":5,"failed":2}}',
  ),
  actor: few("", "s3"),
  tags: few("", '{"app":"shop"}', '{"app":"shop","env":"a"}'),
  end_user: few("", "u1"),
});

/** Adds the sums of rows that were gathered one by one, by their keys. */
function joinSingles(
  rows: readonly GatheredLog[],
  read: (row: GatheredLog[]) => [key: string, sums: unknown][],
): unknown {
  const joined = new Map<string, unknown>();
  for (const row of rows) for (const [key, sums] of read([row])) joined.set(key, addDeep(joined.get(key), sums));
  return joined;
}

/** Adds numbers, and those inside maps and objects. */
function addDeep(one: unknown, other: unknown): unknown {
  if (one === undefined) return other;
  if (typeof one === "number") return one + Number(other);
  if (one instanceof Map && other instanceof Map) {
    const joined = new Map<unknown, unknown>(one);
    for (const [key, value] of other) joined.set(key, addDeep(joined.get(key), value));
    return joined;
  }
  const [left, right] = [one, other] as Record<string, unknown>[];
  return Object.fromEntries(Object.keys(left ?? {}).map((key) => [key, addDeep(left?.[key], right?.[key])]));
}

const trim = (text: string) => text.replace(/ +$/, "");

test.each<[string, (rows: GatheredLog[]) => [string, unknown][]]>([
  ["the statistics", (rows) => [...gather(groupAlike(rows))].map(([key, slot]) => [key, slot.sums])],
  [
    "the facets",
    (rows) => gatherFacets(groupAlike(rows)).map(({ key, rows: count, counts }) => [key.join("|"), { count, counts }]),
  ],
  [
    "the sums of the log",
    (rows) =>
      gatherLogSums(groupAlike(rows), trim).map(({ key, rows: count, counts }) => [
        key.join("|"),
        { count, counts: counts ?? {} },
      ]),
  ],
  [
    "the sums of reports",
    (rows) => gatherReportSums(groupAlike(rows), trim).map(({ key, figures }) => [JSON.stringify(key), figures]),
  ],
])("%s are those of each row alone, added", (_, read) => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 30 }), (rows) => {
      expect(new Map(read(rows))).toEqual(joinSingles(rows, read));
    }),
  );
});

test("rows that differ in a column that is grouped by are not alike", () => {
  fc.assert(
    fc.property(anyRow, anyRow, (one, other) => {
      const groups = groupAlike([one, other]);
      expect(groups.flatMap(({ rows }) => rows.map(({ row }) => row))).toEqual([one, other]);
      if (one.token_name !== other.token_name || one.username !== other.username) expect(groups).toHaveLength(2);
    }),
  );
});
