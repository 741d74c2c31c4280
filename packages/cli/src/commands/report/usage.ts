import {
  formatTime,
  isTagKey,
  MAX_REPORT_SECONDS,
  REPORT_FIELDS,
  reportUsage,
  reportUsageSelf,
  ROLE,
  selfGet,
  teamMemberList,
  teamReport,
  type CallInput,
  type ReportRow,
  type UsageReport,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { parsePastTime } from "../../core/times.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { printList, type Output } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import type { SessionClient } from "../../session/session.ts";
import { calculateOffset, type Part } from "../paging.ts";

export interface UsageOptions extends Part {
  readonly by: string;
  readonly since: string;
  readonly until?: string;
  readonly user?: string;
  readonly interval?: string;
  readonly tag?: readonly string[];
  readonly endUser?: string;
  /** Tags whose cost the other values share. */
  readonly share?: readonly string[];
  readonly split?: string;
  readonly model?: string;
  readonly group?: string;
  readonly timeZone?: string;
  readonly format?: "csv" | "parquet";
  readonly outputFile?: string;
  /** Id of the team whose calls are counted. */
  readonly ofTeam?: number | undefined;
}

/** Prints a report of any fields, as the gateway sums it from the rows of the log. */
export async function printUsage(
  client: SessionClient,
  options: UsageOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  calculateOffset(options);
  await printReportRows(await readReport(client, options, nowSeconds), options, output);
}

/** Prints the rows of a report, and the sums of everything. */
export async function printReportRows(
  report: UsageReport,
  options: Part & Pick<UsageOptions, "interval">,
  output: Output,
): Promise<void> {
  const { limit, page = 1 } = options;
  await printList(output, {
    kind: "UsageReport",
    rows: report.rows,
    columns: buildColumns(report, options),
    part: { limit, page },
    empty: "No calls are in that time.",
  });
  output.note(describe(report));
}

async function readReport(client: SessionClient, options: UsageOptions, nowSeconds: number): Promise<UsageReport> {
  const { team, isAdmin, query } = await buildQuery(client, options, nowSeconds);
  if (team !== undefined) return readTeamReport(client, team, query);
  return isAdmin
    ? (await client.call(reportUsage, { query })).data
    : (await client.call(reportUsageSelf, { query })).data;
}

/** Adds the names of members to the ids of those who called. */
async function readTeamReport(client: SessionClient, id: number, query: Asked): Promise<UsageReport> {
  const { data } = await client.call(teamReport, { params: { id }, query });
  if (!data.columns.includes("actor")) return data;
  const { data: members } = await client.call(teamMemberList, { params: { id } });
  const names = new Map(members.map(({ user_id, username }) => [`u${user_id}`, username]));
  return { ...data, rows: data.rows.map((row) => ({ ...row, actor_name: names.get(String(row["actor"])) ?? "" })) };
}

type Asked = NonNullable<CallInput<typeof teamReport>["query"]>;

/** Saves a report as the gateway writes it, to a new file or to standard output. */
export async function saveUsage(
  client: SessionClient,
  { format, outputFile, ...options }: UsageOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const found = await buildQuery(client, options, nowSeconds);
  const open = (written: "csv" | "parquet") =>
    openReport(client, { ...found, query: { ...found.query, format: written } });
  await saveReportFile(open, { format, outputFile }, output);
}

/** Writes the file of an answer to a new file or to standard output. */
export async function saveReportFile(
  open: (format: "csv" | "parquet") => ReturnType<SessionClient["open"]>,
  { format, outputFile }: { readonly format?: "csv" | "parquet" | undefined; readonly outputFile?: string | undefined },
  output: Output,
): Promise<void> {
  if (outputFile === undefined && format === "parquet" && process.stdout.isTTY)
    throw new CliError("a Parquet file is not for a terminal", EXIT.usage, "name a file with --output-file");
  const { body } = await open(format ?? "csv");
  const { formatBytes, saveStream } = await import("../file/transfer.ts");
  const bytes = await saveStream(body, outputFile, 0);
  if (outputFile !== undefined) output.note(`Wrote ${formatBytes(bytes)} to ${outputFile}.`);
}

async function buildQuery(client: SessionClient, options: UsageOptions, nowSeconds: number) {
  const { user, interval, tag = [], endUser, model, group, timeZone, share = [], split } = options;
  const query = {
    by: readFields(options.by),
    ...readPeriod(options, nowSeconds),
    interval,
    time_zone: timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    tags: tag.join("|"),
    end_user: endUser,
    model_name: model,
    group,
    ...(share.length > 0 && { shared: share.join("|") }),
    ...(split !== undefined && { split }),
  };
  const { ofTeam: team } = options;
  if (team !== undefined && user !== undefined)
    throw new CliError("--user does not go with --team", EXIT.usage, "use --by actor");
  if (team !== undefined) return { team, isAdmin: false, query };
  const isAdmin = (await client.call(selfGet, {})).data.role >= ROLE.admin;
  if (!isAdmin && user !== undefined)
    throw new CliError("--user is for administrators", EXIT.forbidden, "leave it out to read your own calls");
  return { team, isAdmin, query: isAdmin ? { ...query, username: user } : query };
}

interface AskedReport extends Omit<Awaited<ReturnType<typeof buildQuery>>, "query"> {
  readonly query: Asked;
}

function openReport(client: SessionClient, { team, isAdmin, query }: AskedReport) {
  if (team !== undefined) return client.open(teamReport, { params: { id: team }, query });
  return isAdmin ? client.open(reportUsage, { query }) : client.open(reportUsageSelf, { query });
}

export function readFields(text: string): string[] {
  const fields = text.split(",").map((name) => name.trim());
  const unknown = fields.find((name) => !isField(name));
  if (unknown === undefined) return fields;
  const hint = `use ${REPORT_FIELDS.join(", ")} or tag:KEY, up to three of them`;
  throw new CliError(`--by does not know ${unknown}`, EXIT.usage, hint);
}

function isField(name: string): boolean {
  return name.startsWith("tag:") ? isTagKey(name.slice(4)) : (REPORT_FIELDS as readonly string[]).includes(name);
}

/** Returns a period, which ends before `--until`, so that October ends with its last second. */
export function readPeriod(
  { since, until }: { readonly since: string; readonly until?: string | undefined },
  nowSeconds: number,
): { readonly start: number; readonly end: number } {
  const start = parsePastTime(since, "--since", nowSeconds);
  const end = until === undefined ? nowSeconds + 1 : parsePastTime(until, "--until", nowSeconds);
  if (end <= start) throw new CliError("--until is before --since", EXIT.usage);
  if (end - start > MAX_REPORT_SECONDS)
    throw new CliError(
      `a report spans at most ${MAX_REPORT_SECONDS / 86_400} days`,
      EXIT.usage,
      "choose a later --since, or an earlier --until",
    );
  return { start, end };
}

const FIGURES: ReadonlySet<string> = new Set(
  "start calls errors input_tokens output_tokens quota cost_usd shared total total_usd".split(" "),
);

function buildColumns(
  { columns, rows }: UsageReport,
  { interval = "none" }: Pick<UsageOptions, "interval">,
): Column<ReportRow>[] {
  const starts: Column<ReportRow>[] = interval === "none" ? [] : [time("START", "start")];
  const hasNames = rows.some((row) => "actor_name" in row);
  const named = columns.filter((name) => !FIGURES.has(name));
  const shown = hasNames ? named.flatMap((name) => (name === "actor" ? [name, "actor_name"] : [name])) : named;
  const fields = shown.map((name) => plain<ReportRow>(name.toUpperCase().replace("_", " "), name));
  return [
    ...starts,
    ...fields,
    number("CALLS", "calls"),
    number("FAILED", "errors"),
    number("IN", "input_tokens"),
    number("OUT", "output_tokens"),
    quota("COST", "quota", 6),
    ...(columns.includes("shared")
      ? [quota<ReportRow>("SHARED", "shared", 6), quota<ReportRow>("TOTAL", "total", 6)]
      : []),
  ];
}

/** Returns the sums of everything, and the span that was counted. */
function describe({ total, start, end, bounded }: UsageReport): string {
  const rest = bounded ? "; ~other joins the cheapest groups" : "";
  const amount = `$${total.cost_usd} (${total.quota} quota)`;
  return `${total.calls} calls, ${total.errors} failed, ${amount} from ${formatTime(start)} to ${formatTime(end)}${rest}.`;
}
