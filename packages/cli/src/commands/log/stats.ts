import { dollars, LOG_TYPE, TEST_TOKEN_NAME, type LogRow } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { objectIn } from "../../core/json.ts";
import { number, plain, quota } from "../../print/columns.ts";
import { noteCut, printList, type Output, type Shape } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import type { SessionClient } from "../../session/session.ts";
import { readExport } from "./exported.ts";
import { calculateOffset, type Part } from "../paging.ts";
import { buildLogQuery, type LogFilterOptions } from "./log.ts";

/** Fields that calls can be grouped by. */
type Dimension = "model" | "channel" | "user" | "token";

export interface LogStatsOptions extends Omit<LogFilterOptions, "type">, Part {
  readonly by: Dimension;
}

interface Sums {
  readonly id: number;
  readonly name: string;
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  quota: number;
  seconds: number;
}

const OF: Readonly<Record<Dimension, (row: LogRow) => Pick<Sums, "id" | "name">>> = {
  model: (row) => ({ id: 0, name: row.model_name }),
  channel: (row) => ({ id: row.channel, name: row.channel_name }),
  user: (row) => ({ id: row.user_id, name: row.username }),
  token: (row) => ({ id: row.token_id, name: row.token_name }),
};
const FOR_ADMINISTRATORS: readonly Dimension[] = ["channel", "user"];

/** Sums the rows themselves, so the totals match the charged money and include all calls; most expensive first. */
export async function logStats(
  client: SessionClient,
  { by, limit, page = 1, ...options }: LogStatsOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const offset = calculateOffset({ limit, page });
  const { isAdmin, filter } = await buildLogQuery(client, options, nowSeconds);
  if (!isAdmin && FOR_ADMINISTRATORS.includes(by))
    throw new CliError(`--by ${by} is for administrators`, EXIT.forbidden, "use --by model or --by token");
  const sums = new Map<string, Sums>();
  for (const type of [LOG_TYPE.consume, LOG_TYPE.error])
    await readExport(client, { isAdmin, filter: { ...filter, type } }, (row) => add(sums, row, by));
  const all = [...sums.values()].toSorted((a, b) => b.quota - a.quota || b.requests - a.requests);
  const total = all.reduce((sum, one) => ({ requests: sum.requests + one.requests, quota: sum.quota + one.quota }), {
    requests: 0,
    quota: 0,
  });
  const rows = all.slice(offset).slice(0, limit);
  await printList(output, { ...buildShape(by, total.quota), rows, empty: "No calls match." });
  const isCut = offset + rows.length < all.length;
  noteCut(output, rows.length, { isCut, total: all.length, ...(page > 1 && { page }) });
  const perUnit = await output.quotaPerUnit();
  output.note(`${total.requests} calls, $${dollars(total.quota, 6, perUnit)} (${total.quota} quota).`);
}

function add(sums: Map<string, Sums>, row: LogRow, by: Dimension): void {
  const { id, name } = OF[by](row);
  const key = id === 0 ? name : String(id);
  const none = { id, name, requests: 0, prompt_tokens: 0, completion_tokens: 0, quota: 0, seconds: 0 };
  const one = sums.get(key) ?? none;
  one.requests += countCalls(row);
  one.prompt_tokens += row.prompt_tokens;
  one.completion_tokens += row.completion_tokens;
  one.quota += row.quota;
  one.seconds += row.use_time;
  sums.set(key, one);
}

/** A row of failed calls may stand for several; a channel test is not a client's call. */
function countCalls({ type, token_name: token, other }: LogRow): number {
  if (token === TEST_TOKEN_NAME) return 0;
  const repeated = type === LOG_TYPE.error ? objectIn(other)?.["repeated"] : undefined;
  return typeof repeated === "number" ? repeated : 1;
}

function buildShape(by: Dimension, total: number): Shape<Sums> {
  const ids: Column<Sums>[] = by === "model" ? [] : [number("ID", "id")];
  const share = (one: Sums) => (total === 0 ? "-" : `${((100 * one.quota) / total).toFixed(1)} %`);
  return {
    kind: "LogStats",
    columns: [
      ...ids,
      plain(by.toUpperCase(), "name"),
      number("CALLS", "requests"),
      number("IN", "prompt_tokens"),
      number("OUT", "completion_tokens"),
      quota("COST", "quota", 6),
      { title: "SHARE", value: share, isNumber: true },
    ],
    wide: [number("SECONDS", "seconds")],
    name: ({ id, name }) => `${by}/${id === 0 ? name : id}`,
  };
}
