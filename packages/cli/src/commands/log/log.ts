import {
  formatTime,
  LOG_SCAN_CAP,
  LOG_TYPE,
  logClear,
  logList,
  logListSelf,
  logStat,
  logStatSelf,
  ROLE,
  selfGet,
  teamLog,
  teamLogStat,
  type Client,
  type LogRow,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { isMissingCall } from "../../core/problem.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import {
  isForPeople,
  noteCut,
  openRows,
  printDone,
  checkSortColumn,
  printList,
  printOne,
  type Output,
  type Shape,
} from "../../print/output.ts";
import type { RowPrinter } from "../../print/rows.ts";
import { moneyText } from "../../print/sheet.ts";
import type { SessionClient } from "../../session/session.ts";
import type { Reference } from "../../core/arguments.ts";
import { resolveIdByName } from "../names.ts";
import { calculateOffset, type Part } from "../paging.ts";
import type { LogQuery } from "./query.ts";
import { tokenFilter } from "./token-filter.ts";
import { parsePastTime } from "../../core/times.ts";

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
    plain("CHANNEL", "channel_name"),
    number("IN", "prompt_tokens"),
    number("OUT", "completion_tokens"),
    quota("COST", "quota", 6),
    number("SECS", "use_time"),
    plain("CONTENT", "content"),
  ],
  wide: [
    plain("GROUP", "group"),
    plain("STREAM", "is_stream"),
    number("CHANNEL ID", "channel"),
    plain("IP", "ip"),
    plain("REQUEST", "request_id"),
  ],
  name: ({ id }) => `log/${id}`,
};

/** Owners of rows see no channels. */
export function logShape(isAdmin: boolean): Shape<LogRow> {
  return isAdmin ? LOGS : { ...LOGS, columns: LOGS.columns.filter(({ field }) => field !== "channel_name") };
}

export interface LogFilterOptions {
  readonly type?: string;
  readonly user?: string;
  readonly token?: Reference;
  readonly model?: string;
  readonly channel?: Reference;
  readonly group?: string;
  readonly request?: string;
  readonly minSeconds?: number;
  readonly since?: string;
  readonly until?: string;
  /** Id of the team whose rows are listed. */
  readonly ofTeam?: number | undefined;
}

export interface LogListOptions extends LogFilterOptions, Part {
  readonly follow?: boolean;
}

/** Administrators see all rows, everybody else their own. */
export async function buildLogQuery(client: Client, options: LogFilterOptions, nowSeconds: number): Promise<LogQuery> {
  const { type, user, channel: named, since, until, ofTeam } = options;
  const bounds = {
    start_timestamp: since === undefined ? 0 : parsePastTime(since, "--since", nowSeconds),
    end_timestamp: until === undefined ? 0 : parsePastTime(until, "--until", nowSeconds),
  };
  if (ofTeam !== undefined) return buildTeamQuery(options, bounds, ofTeam);
  const { data: self } = await client.call(selfGet, {});
  const isAdmin = self.role >= ROLE.admin;
  const refused = isAdmin ? undefined : user === undefined ? (named === undefined ? undefined : "--channel") : "--user";
  if (refused !== undefined)
    throw new CliError(`${refused} is for administrators`, EXIT.forbidden, "leave it out to list your own rows");
  const own = {
    type: TYPE_NUMBER[type ?? ""] ?? LOG_TYPE.unknown,
    ...(await tokenFilter(client, options.token, { isAdmin, user })),
    model_name: options.model,
    group: options.group,
    request_id: options.request,
    min_use_time: options.minSeconds,
    ...bounds,
  };
  if (!isAdmin) return { isAdmin, filter: own };
  const channel = typeof named === "object" ? await resolveIdByName(client, named, false) : named;
  return { isAdmin, filter: { ...own, username: user, channel } };
}

function buildTeamQuery(options: LogFilterOptions, bounds: object, team: number): LogQuery {
  const { type, user, channel, token } = options;
  const refused = user !== undefined ? "--user" : channel !== undefined ? "--channel" : undefined;
  if (refused !== undefined)
    throw new CliError(`${refused} does not go with --team`, EXIT.usage, "leave one of them out");
  const filter = {
    type: TYPE_NUMBER[type ?? ""] ?? LOG_TYPE.unknown,
    ...(typeof token === "number" && { token_id: token }),
    ...(typeof token === "object" && { token_name: token.name }),
    model_name: options.model,
    group: options.group,
    request_id: options.request,
    min_use_time: options.minSeconds,
    ...bounds,
  };
  return { isAdmin: false, team, filter };
}

/** The order of the gateway, by the title and by the name of its column. */
const NEWEST_FIRST: readonly string[] = ["-time", "-TIME", "-created_at"];

function checkSort(output: Output, limit: number): void {
  const { sort } = output;
  checkSortColumn(output, LOGS);
  if (sort === undefined || !Number.isFinite(limit) || NEWEST_FIRST.includes(sort)) return;
  const hint = "the gateway sorts it by -time alone; add --limit all for other columns, and --since to read less";
  throw new CliError("--sort would sort only the newest rows of the log", EXIT.usage, hint);
}

/** A list of more rows than this is streamed. */
const PAGED = 1000;

export async function listLogs(
  client: SessionClient,
  options: LogListOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const { limit, page = 1 } = options;
  const offset = calculateOffset(options);
  checkSort(output, limit);
  const found = await buildLogQuery(client, options, nowSeconds);
  if (page === 1 && limit > PAGED && found.team === undefined) return listWholeLog(client, found, limit, output);
  const rows: LogRow[] = [];
  let before: string | undefined;
  let total: number | undefined;
  do {
    const data = await readPage(client, found, { before, size: Math.min(PAGE, offset + limit), read: rows.length });
    rows.push(...data.items);
    total ??= data.total < LOG_SCAN_CAP ? data.total : undefined;
    before = data.next;
  } while (before !== "" && rows.length < offset + limit);
  const isCut = before !== "" || rows.length > offset + limit;
  await printList(output, {
    ...logShape(found.isAdmin),
    rows: rows.slice(offset).slice(0, limit),
    isCut,
    total,
    ...(page > 1 && { page }),
    empty: NONE,
  });
}

const NONE = "No log rows match.";

/** The rows of an owner are numbered by page, so they get numbers of the whole list: `read` stand before these. */
async function readPage(
  client: SessionClient,
  { isAdmin, team, filter }: LogQuery,
  { before, size, read }: { readonly before?: string | undefined; readonly size: number; readonly read: number },
) {
  const query = { ...filter, before, page_size: size };
  const { data } =
    team === undefined
      ? await client.call(isAdmin ? logList : logListSelf, { query })
      : await client.call(teamLog, { params: { id: team }, query });
  return isAdmin ? data : { ...data, items: data.items.map((row, at) => ({ ...row, id: read + at + 1 })) };
}

/** A gateway without exports lists its log only if one page holds all of it: a part would pass for the whole. */
async function listWholeLog(client: SessionClient, query: LogQuery, limit: number, output: Output): Promise<void> {
  try {
    await streamLogs(client, query, limit, output);
  } catch (problem) {
    if (!isMissingCall(problem)) throw problem;
    const { items: rows, total, next } = await readPage(client, query, { size: PAGE, read: 0 });
    if (next !== "" || total > rows.length) throw problem;
    await printList(output, { ...logShape(query.isAdmin), rows, empty: NONE });
  }
}

/** Streams rows as they arrive, from one call. */
async function streamLogs(client: SessionClient, query: LogQuery, limit: number, output: Output): Promise<void> {
  const { readWholeExport } = await import("./exported.ts");
  const open = () => openRows(output, logShape(query.isAdmin));
  let printer: RowPrinter<LogRow> | undefined;
  let count = 0;
  let isCut = false;
  const print = (row: LogRow) => {
    printer?.add(query.isAdmin ? row : { ...row, id: count });
    return output.room();
  };
  const take = (row: LogRow) => {
    isCut = count === limit;
    if (isCut) return false;
    count += 1;
    if (printer) return print(row);
    // A gateway that refuses the call gets no titles printed.
    return open().then((opened) => {
      printer = opened;
      return print(row);
    });
  };
  await readWholeExport(client, query, take, output.note);
  printer ??= await open();
  printer.end({ isCut });
  if (count === 0 && isForPeople(output)) output.note(NONE);
  noteCut(output, count, { isCut });
}

export async function logTotals(
  client: Client,
  options: LogFilterOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const { isAdmin, team, filter } = await buildLogQuery(client, options, nowSeconds);
  const { data: found } =
    team === undefined
      ? await client.call(isAdmin ? logStat : logStatSelf, { query: filter })
      : await client.call(teamLogStat, { params: { id: team }, query: filter });
  // The gateway sums consumption for every type, as compatible consoles expect; other rows cost nothing.
  const isSpending = filter.type === LOG_TYPE.unknown || filter.type === LOG_TYPE.consume;
  const data = isSpending ? found : { ...found, quota: 0 };
  if (!isForPeople(output)) return printOne(output, data, { quotas: ["quota"] });
  await printOne(output, data, { words: { ...data, quota: moneyText(data.quota, await output.quotaPerUnit()) } });
}

export async function pruneLogs(
  client: Client,
  { before, yes }: { readonly before: string; readonly yes?: boolean },
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const at = parsePastTime(before, "--before", nowSeconds);
  await output.confirm(`Delete all log rows before ${formatTime(at)}`, 1, yes);
  const { data: deleted } = await client.call(logClear, { query: { target_timestamp: at } });
  await printDone(output, { deleted }, `Deleted ${deleted} rows.`);
}
