import { OTHER_VALUE, type ReportRow, type UsageReport } from "@fairway/wire";
import type { Question } from "./api.ts";
import { TAG } from "./fields.ts";
import type { Reader } from "./reader.ts";
import { readText } from "./shape.ts";

/** Members of the log's address, by column of a report. */
const LOG_FILTERS: Readonly<Record<string, string>> = {
  model: "model",
  group: "group",
  end_user: "endUser",
  user: "user",
  token_id: "tokenId",
  channel_id: "channel",
};
const LEFT_OUT = new Set(["token", "channel", "user_id"]);

interface Asked {
  readonly question: Question;
  readonly reader: Reader;
}

/** Returns the address of the calls of a row; undefined if the log has no filter for them. */
export function buildLogAddress(
  row: ReportRow,
  report: UsageReport,
  { question, reader: { inLog } }: Asked,
): string | undefined {
  if (inLog === undefined) return undefined;
  const { columns, start, end } = report;
  const filters = new Map<string, string>(inLog === "" ? [] : [["user", inLog]]);
  for (const name of ["tags", "endUser", "model", "token", "group", "user", "channel"] as const)
    if (question[name] !== "") filters.set(name, question[name]);
  for (const column of columns.slice(1, columns.indexOf("calls"))) {
    const value = readText(row, column);
    if (LEFT_OUT.has(column)) continue;
    if (value === OTHER_VALUE || value === "" || value === "0") return undefined;
    if (column.startsWith(TAG)) addTag(filters, `${column.slice(TAG.length)}=${value}`);
    else if (LOG_FILTERS[column] !== undefined) filters.set(LOG_FILTERS[column], value);
    else return undefined;
  }
  const span = { range: "custom", from: String(start), to: String(end - 1) };
  return `/log?${new URLSearchParams({ ...Object.fromEntries(filters), ...span })}`;
}

function addTag(filters: Map<string, string>, tag: string): void {
  const known = filters.get("tags");
  filters.set("tags", known === undefined || known === "" ? tag : `${known}|${tag}`);
}
