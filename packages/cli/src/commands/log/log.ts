import {
  formatTime,
  LOG_TYPE,
  logClear,
  logList,
  logListSelf,
  logStat,
  logStatSelf,
  ROLE,
  selfGet,
  type CallInput,
  type Client,
  type LogRow,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { printDone, printList, printOne, type Output, type Shape } from "../../print/output.ts";
import { confirm } from "../../terminal/prompt.ts";
import { pastOf } from "../times.ts";

const TYPE_NUMBER: Readonly<Record<string, number>> = {
  topup: LOG_TYPE.topup,
  consume: LOG_TYPE.consume,
  manage: LOG_TYPE.manage,
  system: LOG_TYPE.system,
  error: LOG_TYPE.error,
};
const TYPE_WORD = new Map(Object.entries(TYPE_NUMBER).map(([word, number]) => [number, word]));
const PAGE = 100;

/** How rows of the log are printed. */
export const LOGS: Shape<LogRow> = {
  kind: "Log",
  columns: [
    time("TIME", "created_at"),
    { title: "TYPE", value: (row) => TYPE_WORD.get(row.type) ?? String(row.type) },
    plain("USER", "username"),
    plain("TOKEN", "token_name"),
    plain("MODEL", "model_name"),
    number("IN", "prompt_tokens"),
    number("OUT", "completion_tokens"),
    quota("QUOTA", "quota"),
    number("SECONDS", "use_time"),
    plain("CONTENT", "content"),
  ],
  wide: [
    plain("GROUP", "group"),
    plain("STREAM", "is_stream"),
    number("CHANNEL", "channel"),
    plain("CHANNEL NAME", "channel_name"),
    plain("IP", "ip"),
    plain("REQUEST", "request_id"),
  ],
  name: ({ id }) => `log/${id}`,
};

export interface LogFilterOptions {
  readonly type?: string;
  readonly user?: string;
  readonly token?: string;
  readonly model?: string;
  readonly channel?: number;
  readonly group?: string;
  readonly request?: string;
  readonly minSeconds?: number;
  readonly since?: string;
  readonly until?: string;
}

export interface LogListOptions extends LogFilterOptions {
  readonly limit: number;
  readonly follow?: boolean;
}

/** A filter as the calls of the role take it. */
export interface LogQuery {
  readonly isAdmin: boolean;
  readonly filter: NonNullable<CallInput<typeof logStat>["query"]>;
}

/** Administrators see all rows, everybody else their own. */
export async function logQueryOf(client: Client, options: LogFilterOptions, nowSeconds: number): Promise<LogQuery> {
  const { type, user, channel, since, until } = options;
  const bounds = {
    start_timestamp: since === undefined ? 0 : pastOf(since, "--since", nowSeconds),
    end_timestamp: until === undefined ? 0 : pastOf(until, "--until", nowSeconds),
  };
  const { data: self } = await client.call(selfGet, {});
  const isAdmin = self.role >= ROLE.admin;
  const own = {
    type: TYPE_NUMBER[type ?? ""] ?? LOG_TYPE.unknown,
    token_name: options.token,
    model_name: options.model,
    group: options.group,
    request_id: options.request,
    min_use_time: options.minSeconds,
    ...bounds,
  };
  if (isAdmin) return { isAdmin, filter: { ...own, username: user, channel } };
  const refused = user === undefined ? (channel === undefined ? undefined : "--channel") : "--user";
  if (refused !== undefined)
    throw new CliError(`${refused} is for administrators`, EXIT.forbidden, "leave it out to list your own rows");
  return { isAdmin, filter: own };
}

export async function listLogs(
  client: Client,
  options: LogListOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const { isAdmin, filter } = await logQueryOf(client, options, nowSeconds);
  const rows: LogRow[] = [];
  let before: string | undefined;
  do {
    const query = { ...filter, before, page_size: Math.min(PAGE, options.limit) };
    const { data } = await client.call(isAdmin ? logList : logListSelf, { query });
    // The rows of an owner are numbered by page.
    const numbered = isAdmin ? data.items : data.items.map((row, at) => ({ ...row, id: rows.length + at + 1 }));
    rows.push(...numbered);
    before = data.next;
  } while (before !== "" && rows.length < options.limit);
  const shown = rows.slice(0, options.limit);
  await printList(output, { ...LOGS, rows: shown, empty: "No log rows match." });
}

export async function logTotals(
  client: Client,
  options: LogFilterOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const { isAdmin, filter } = await logQueryOf(client, options, nowSeconds);
  const { data } = await client.call(isAdmin ? logStat : logStatSelf, { query: filter });
  await printOne(output, data, { quotas: ["quota"] });
}

export async function pruneLogs(
  client: Client,
  { before, yes }: { readonly before: string; readonly yes?: boolean },
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const at = pastOf(before, "--before", nowSeconds);
  await confirm(`Delete all log rows before ${formatTime(at)}`, 1, yes);
  const { data: deleted } = await client.call(logClear, { query: { target_timestamp: at } });
  await printDone(output, { deleted }, `Deleted ${deleted} rows.`);
}
