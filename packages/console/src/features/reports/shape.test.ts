import type { ReportRow, UsageReport } from "@fairway/wire";
import { expect, test } from "vitest";
import { changeField, listAsked, readFields } from "./fields.ts";
import { EVERYONE, SELF } from "./reader.ts";
import {
  buildSeries,
  buildSlots,
  formatLabel,
  hasSharedCost,
  listNameColumns,
  listStarts,
  readMetric,
  sumFigures,
} from "./shape.ts";

const DAY = 86_400;
const START = Math.floor(new Date(2026, 9, 24).getTime() / 1000);
const WORDS = { other: "Other", none: "None", rest: "Rest" };

function row(start: number, app: string, quota: number, more: Readonly<Record<string, string | number>> = {}) {
  const figures = { calls: 1, errors: 0, input_tokens: 2, output_tokens: 3, quota, cost_usd: "0.000000" };
  return { start, "tag:app": app, ...more, ...figures } satisfies ReportRow;
}

function report(rows: readonly ReportRow[], columns: readonly string[] = ["tag:app"]): UsageReport {
  const figures = ["calls", "errors", "input_tokens", "output_tokens", "quota", "cost_usd"];
  const total = { calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, quota: 0, cost_usd: "0.000000" };
  const span = { start: START, end: START + 5 * DAY, complete_until: START };
  return {
    columns: ["start", ...columns, ...figures],
    rows: [...rows],
    total,
    ...span,
    bounded: false,
    other_groups: 0,
  };
}

test("a row shows names, ids of what has no name, and words for calls without a value", () => {
  const columns = ["token_id", "token", "tag:app"];
  const shown = listNameColumns(report([], columns));
  expect(shown).toEqual(["token", "tag:app"]);
  expect(formatLabel(row(START, "shop", 1, { token_id: 7, token: "ci" }), shown, WORDS)).toBe("ci · shop");
  expect(formatLabel(row(START, "", 1, { token_id: 7, token: "" }), shown, WORDS)).toBe("#7 · None");
  expect(formatLabel(row(START, "~other", 1, { token_id: 0, token: "~other" }), shown, WORDS)).toBe("Other · Other");
});

test("a chart has all amounts of the report, with the cheapest groups in one series", () => {
  const rows = Array.from({ length: 40 }, (_, at) => row(START + (at % 5) * DAY, `app-${at % 20}`, 100 + at));
  const shown = report(rows);
  const series = buildSeries(shown, "quota", WORDS);
  expect(series).toHaveLength(13);
  expect(series.at(-1)?.label).toBe("Rest");
  const slots = buildSlots(shown, series, { metric: "quota", interval: "day", words: WORDS });
  const whole = rows.reduce((sum, { quota }) => sum + quota, 0);
  expect(series.reduce((sum, { total }) => sum + total, 0)).toBe(whole);
  expect(slots.flatMap(({ values }) => Object.values(values)).reduce<number>((sum, one) => sum + (one ?? 0), 0)).toBe(
    whole,
  );
});

test("a shared cost moves between rows, and what is left out of a table has its part of it", () => {
  const rows = [
    row(START, "shop", 70, { shared: 20, total: 90 }),
    row(START, "crm", 30, { shared: 9, total: 39 }),
    row(START, "platform", 29, { shared: -29, total: 0 }),
  ];
  const shown = report(rows);
  expect(buildSeries(shown, "quota", WORDS).map(({ label, total }) => [label, total])).toEqual([
    ["shop", 90],
    ["crm", 39],
  ]);
  expect(sumFigures(rows.slice(1))).toMatchObject({ calls: 2, quota: 59, shared: -20 });
  expect(readMetric(sumFigures(rows), "quota")).toBe(129);
  expect(readMetric(rows[0] as ReportRow, "calls")).toBe(1);
  expect(hasSharedCost(shown)).toBe(false);
  expect(hasSharedCost({ columns: [...shown.columns, "shared", "total", "total_usd"] })).toBe(true);
});

test("intervals follow the local clock, and those without calls are there, too", () => {
  const dates = listStarts({ start: START + 3_600, end: START + 3 * DAY }, "day").map((at) => new Date(at * 1000));
  expect(dates.map((date) => date.getDate())).toEqual([24, 25, 26]);
  expect(dates.slice(1).map((date) => date.getHours())).toEqual([0, 0]);
  const weeks = listStarts({ start: START, end: START + 20 * DAY }, "week").slice(1);
  expect(weeks.map((at) => new Date(at * 1000).getDay())).toEqual([1, 1, 1]);
  expect(listStarts({ start: START, end: START + 3_600 * 5 }, "hour")).toHaveLength(5);
  expect(listStarts({ start: START, end: START + DAY }, "none")).toEqual([START]);
});

test("fields are chosen by place, once each, and a tag without its key is not asked for", () => {
  expect(readFields("model,tag:app,channel,nothing", SELF)).toEqual(["model", "tag:app"]);
  expect(readFields("model,user,team,group", EVERYONE)).toEqual(["model", "user", "team"]);
  expect(listAsked(["model", "tag:", "tag:app", "tag:App"])).toEqual(["model", "tag:app"]);
  expect(changeField(["model"], 1, "tag:")).toBe("model,tag:");
  expect(changeField(["model", "token"], 0, "")).toBe("token");
  expect(changeField(["model", "token"], 0, "token")).toBe("token");
});
