// Files are read with the Rust implementation of Arrow, which shares no code with the one that writes them.
import type { UsageReport } from "@fairway/wire";
import { tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm";
import { expect, it } from "vitest";
import { formatReportParquet } from "./parquet.ts";

const figures = { calls: 3, errors: 1, input_tokens: 10, output_tokens: 20, cost_usd: "0.000002" };
const COLUMNS = ["start", "tag:app", "channel_id", "channel"];
const TOTALS = ["calls", "errors", "input_tokens", "output_tokens", "quota", "cost_usd"];

function buildReport(rows: UsageReport["rows"]): UsageReport {
  const total = { ...figures, quota: 0 };
  const columns = [...COLUMNS, ...TOTALS];
  return { columns, rows, total, start: 0, end: 0, complete_until: 0, bounded: false, other_groups: 0 };
}

function read(file: Buffer) {
  const table = tableFromIPC(readParquet(file).intoIPCStream());
  const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
  return { types, rows: table.toArray().map((row) => ({ ...(row as object) })) };
}

it("has whole numbers, times and texts, exactly", () => {
  const row = { start: 1_800_000_000, channel_id: 7, channel: "Überlauf", "tag:app": "店", ...figures };
  const { types, rows } = read(formatReportParquet(buildReport([{ ...row, quota: Number.MAX_SAFE_INTEGER }])));
  expect(types).toMatchObject({ "tag:app": "Utf8", channel_id: "Int64", quota: "Int64", cost_usd: "Utf8" });
  expect(types["start"]).toMatch(/^Timestamp<MILLISECOND/);
  expect(rows).toEqual([
    {
      ...row,
      start: 1_800_000_000_000,
      channel_id: 7n,
      calls: 3n,
      errors: 1n,
      input_tokens: 10n,
      output_tokens: 20n,
      quota: BigInt(Number.MAX_SAFE_INTEGER),
    },
  ]);
});

it("is a file without rows, too, and one of many rows", () => {
  const empty = read(formatReportParquet(buildReport([])));
  expect([empty.rows, empty.types["quota"]]).toEqual([[], "Int64"]);
  const many = Array.from({ length: 25_000 }, (_, at) => ({
    ...figures,
    start: 60 * at,
    "tag:app": `app-${at % 7}`,
    channel_id: at,
    channel: "",
    quota: at * 1_000_003,
  }));
  const { rows } = read(formatReportParquet(buildReport(many)));
  expect(rows).toHaveLength(25_000);
  expect(rows.map((row) => (row as { quota: bigint }).quota)).toEqual(many.map(({ quota }) => BigInt(quota)));
});
