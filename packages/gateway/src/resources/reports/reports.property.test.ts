// A report must equal a plain sum over the same rows, to the unit, for every combination of fields and filters.
import fc from "fast-check";
import { eachLogDatabase } from "@fairway/testkit/databases";
import { propertyRuns } from "@fairway/testkit/property-runs";
import { LOG_TYPE, parseTags, type ReportField } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import type { LogRowInput } from "../../storage/log-rows.ts";
import { EVERYTHING, type LogQuery } from "../logs/filter.ts";
import { ReportGroups, type Figures } from "./groups.ts";
import { createReportStore } from "./store.ts";

type Row = Partial<LogRowInput> & Pick<LogRowInput, "created_at" | "type" | "quota">;

const START = 1_800_000_000;
const LENGTH = 10_000;
const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);

const row: fc.Arbitrary<Row> = fc
  .record({
    user_id: pick(1, 2),
    token_id: pick(0, 3, 4),
    model_name: pick("a", "A", "b|c", "é"),
    group: pick("default", "vip"),
    channel_id: pick(0, 5),
    actor: pick("", "u1", "s2"),
    tags: pick("", "app=shop", "app=shop|env=prod", "app=shopping", "env=prod", "app=SHOP"),
    end_user: pick("", "42", "ü"),
    created_at: fc.integer({ min: START - 100, max: START + LENGTH + 100 }),
    type: pick(LOG_TYPE.consume, LOG_TYPE.consume, LOG_TYPE.error, LOG_TYPE.topup, LOG_TYPE.system),
    quota: fc.integer({ min: 0, max: 1_000_000_000 }),
    prompt_tokens: fc.integer({ min: 0, max: 5_000 }),
    completion_tokens: fc.integer({ min: 0, max: 5_000 }),
    repeated: fc.integer({ min: 1, max: 9 }),
    isBatch: fc.boolean(),
  })
  .map(({ repeated, isBatch, ...plain }) => {
    if (plain.type === LOG_TYPE.error)
      return { ...plain, quota: 0, other: JSON.stringify(repeated > 1 ? { repeated } : {}) };
    if (plain.type !== LOG_TYPE.consume || !isBatch) return plain;
    const batch = { id: "b", items: 9, succeeded: repeated, failed: 2 };
    return { ...plain, content: "Batch b: done", other: JSON.stringify({ batch }) };
  });

const field = pick<ReportField>(
  "user",
  "actor",
  "token",
  "model",
  "group",
  "channel",
  "end_user",
  "tag:app",
  "tag:env",
);
const filter: fc.Arbitrary<Partial<LogQuery>> = pick<Partial<LogQuery>>(
  {},
  { ownerId: 1 },
  { tags: "app=shop" },
  { tags: "app|env=prod" },
  { end_user: "ü" },
  { model_name: "a", group: "vip" },
  { actor: "u1" },
);

function readValue(name: ReportField, one: Row): string {
  if (name.startsWith("tag:")) return parseTags(one.tags ?? "").get(name.slice(4)) ?? "";
  const columns = { user: "user_id", actor: "actor", token: "token_id", model: "model_name" } as const;
  const more = { group: "group", channel: "channel_id", end_user: "end_user" } as const;
  return String(one[({ ...columns, ...more } as Record<string, keyof Row>)[name] ?? "tags"]);
}

function isMatching(one: Row, { ownerId, tags = "", ...texts }: Partial<LogQuery>): boolean {
  const own = parseTags(one.tags ?? "");
  const isInTime = one.created_at >= START && one.created_at < START + LENGTH;
  const isCall = one.type === LOG_TYPE.consume || one.type === LOG_TYPE.error;
  if (!isInTime || !isCall || (ownerId !== undefined && one.user_id !== ownerId)) return false;
  const hasTexts = Object.entries(texts).every(([name, value]) => one[name as keyof Row] === value);
  const wanted = tags.split("|").filter((tag) => tag !== "");
  return hasTexts && wanted.every((tag) => hasTag(own, tag.split("=")));
}

function hasTag(own: ReadonlyMap<string, string>, [key = "", value]: readonly string[]): boolean {
  return value === undefined ? own.has(key) : own.get(key) === value;
}

function countRow(one: Row): Figures {
  const { prompt_tokens: input = 0, completion_tokens: output = 0, quota, other = "{}" } = one;
  const { repeated = 1, batch } = JSON.parse(other) as Counted;
  if (one.type === LOG_TYPE.error)
    return { calls: repeated, errors: repeated, input_tokens: 0, output_tokens: 0, quota: 0 };
  const { succeeded, failed } = batch ?? { succeeded: 1, failed: 0 };
  return { calls: succeeded + failed, errors: failed, input_tokens: input, output_tokens: output, quota };
}

interface Counted {
  readonly repeated?: number;
  readonly batch?: { readonly succeeded: number; readonly failed: number };
}

const NAMES = ["calls", "errors", "input_tokens", "output_tokens", "quota"] as const;
const toFigureList = (figures: Figures) => NAMES.map((name) => figures[name]);

function sum(rows: readonly Row[], by: readonly ReportField[]): Map<string, number[]> {
  const sums = new Map<string, number[]>();
  for (const one of rows) {
    const key = by.map((name) => readValue(name, one)).join("\n");
    const known = sums.get(key) ?? [0, 0, 0, 0, 0];
    sums.set(
      key,
      known.map((value, at) => value + (toFigureList(countRow(one))[at] ?? 0)),
    );
  }
  return sums;
}

eachLogDatabase("a report over random rows", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  test("equals the plain sum over them, to the unit", async () => {
    const store = createReportStore({ ...kit, logs: kit.logs });
    const cases = fc.record({
      rows: fc.array(row, { maxLength: 40 }),
      by: fc.uniqueArray(field, { maxLength: 3 }),
      query: filter,
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, by, query }) => {
        await kit.logs.db.deleteFrom("logs").execute();
        await insertLogs(kit.logs, rows);
        const groups = new ReportGroups(by);
        const period = { from: START, to: START + LENGTH - 1 };
        await store.addPeriod(groups, { by, filter: { ...EVERYTHING, ...query }, period, start: START });
        const found = groups.finish();
        const ids = new Set(["user", "token", "channel"]);
        // An id has its name behind it.
        const shown = found.groups.map(({ values, figures }) => {
          const rest = [...values];
          const key = by.map((name) => (ids.has(name) ? rest.splice(0, 2) : rest.splice(0, 1))[0]);
          return [key.join("\n"), toFigureList(figures)] as const;
        });
        const expected = sum(
          rows.filter((one) => isMatching(one, query)),
          by,
        );
        if (by.length === 0 && expected.size === 0) expected.set("", [0, 0, 0, 0, 0]);
        expect(new Map(shown)).toEqual(expected);
        expect(toFigureList(groups.total)).toEqual(
          [...expected.values()].reduce((all, one) => all.map((value, at) => value + (one[at] ?? 0)), [0, 0, 0, 0, 0]),
        );
        expect(found.isBounded).toBe(false);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test("hides nothing when a client invents 25,000 end users, and has a bounded number of rows", async () => {
    await kit.logs.db.deleteFrom("logs").execute();
    const rows = Array.from({ length: 25_000 }, (_, at) => ({
      created_at: START + (at % LENGTH),
      end_user: `invented-${at}`,
      quota: at % 7,
      prompt_tokens: 1,
    }));
    await insertLogs(kit.logs, rows);
    const groups = new ReportGroups(["end_user"]);
    const period = { from: START, to: START + LENGTH - 1 };
    await createReportStore({ ...kit, logs: kit.logs }).addPeriod(groups, {
      by: ["end_user"],
      filter: EVERYTHING,
      period,
      start: START,
    });
    const found = groups.finish();
    expect(found.groups).toHaveLength(10_001);
    expect(found.groups.at(-1)?.values).toEqual(["~other"]);
    const total = rows.reduce((all, { quota }) => all + quota, 0);
    expect(found.groups.reduce((all, { figures }) => all + figures.quota, 0)).toBe(total);
    expect(found.groups.reduce((all, { figures }) => all + figures.calls, 0)).toBe(25_000);
    expect([groups.total.quota, found.isBounded]).toEqual([total, true]);
  }, 60_000);
});
