import type { LogRowInput } from "../../packages/gateway/src/storage/log-rows.ts";
import { LOG_COLUMNS } from "../../packages/gateway/src/storage/log-rows.ts";
import type { SqlValue } from "../../packages/gateway/src/storage/engines/raw.ts";
import type { BulkTable } from "./bulk.ts";

/** Growing lists of values by column. */
export type Values = SqlValue[][];

const LOG_TEXTS: readonly (keyof LogRowInput)[] = [
  "content",
  "username",
  "token_name",
  "model_name",
  "group",
  "ip",
  "request_id",
  "other",
  "actor",
  "tags",
  "end_user",
];

export const LOGS: BulkTable = {
  name: "logs",
  columns: Object.fromEntries(LOG_COLUMNS.map((name) => [name, LOG_TEXTS.includes(name) ? "text" : "number"] as const)),
};

export const LEDGER: BulkTable = {
  name: "ledger",
  columns: {
    request_id: "text",
    kind: "text",
    user_id: "number",
    token_id: "number",
    channel_id: "number",
    quota: "number",
    detail: "text",
    created_at: "number",
  },
};

export const SUMS: BulkTable = {
  name: "quota_data",
  columns: {
    user_id: "number",
    username: "text",
    model_name: "text",
    created_at: "number",
    token_used: "number",
    count: "number",
    quota: "number",
  },
};

export function noValues({ columns }: BulkTable): Values {
  return Object.keys(columns).map(() => []);
}

export function push(values: Values, row: readonly SqlValue[]): void {
  for (let at = 0; at < values.length; at++) values[at]?.push(row[at] ?? "");
}
