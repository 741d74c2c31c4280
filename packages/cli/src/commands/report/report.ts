import {
  dollars,
  formatTime,
  ROLE,
  selfGet,
  STATISTICS_SPAN_CAP,
  usageStatistics,
  usageStatisticsSelf,
  type Client,
  type UsagePoint,
  type UsageStatistics,
  type UsageSubject,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { parsePastTime } from "../../core/times.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { calculateOffset, type Part } from "../paging.ts";

export type Dimension = "user" | "group" | "token" | "model" | "channel";

export interface ReportOptions extends Part {
  readonly by: Dimension;
  readonly since: string;
  readonly until?: string;
  readonly user?: string;
  readonly interval?: "hour" | "day" | undefined;
}

const SECONDS = { hour: 3_600, day: 86_400 } as const;
/** Users read what they and their keys spent. */
const FOR_EVERYONE: readonly Dimension[] = ["token", "model"];
/** As many subjects as one answer has; a longer report takes several. */
const PAGE = 2_000;

type Row = Pick<UsageSubject, "subject" | "name" | keyof Figures> & { readonly start?: number };
type Figures = Pick<UsagePoint, "calls" | "errors" | "refused" | "input_tokens" | "output_tokens" | "quota">;

/** Prints the sums that the console shows. They stay when rows of the log are deleted. */
export async function printReport(
  client: Client,
  options: ReportOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  calculateOffset(options);
  const { by, limit, page = 1 } = options;
  const { answer, subjects } = await readStatistics(client, options, nowSeconds);
  const rows = subjects.flatMap((subject) => toRows(subject, options.interval !== undefined));
  const list = { ...buildShape(options, answer.total.quota), rows, part: { limit, page } };
  await printList(output, { ...list, empty: "No calls are counted in that time." });
  output.note(await describe(answer, by, output));
}

async function readStatistics(client: Client, options: ReportOptions, nowSeconds: number) {
  const { by, user, interval } = options;
  const isAdmin = (await client.call(selfGet, {})).data.role >= ROLE.admin;
  checkPermitted(options, isAdmin);
  const query = {
    by,
    ...readPeriod(options, nowSeconds),
    interval: interval === undefined ? 0 : SECONDS[interval],
    utc_offset: -60 * new Date(nowSeconds * 1000).getTimezoneOffset(),
    limit: PAGE,
  };
  const read = async (skip: number) =>
    isAdmin
      ? (await client.call(usageStatistics, { query: { ...query, skip, username: user } })).data
      : (await client.call(usageStatisticsSelf, { query: { ...query, skip } })).data;
  const answer = await read(0);
  const listed = [...answer.subjects];
  for (let page = answer; page.more_subjects > 0 && page.subjects.length > 0;) {
    page = await read(listed.length);
    listed.push(...page.subjects);
  }
  // A call that ends between two answers may move a subject from one to the other.
  return { answer, subjects: [...new Map(listed.map((one) => [one.subject, one])).values()] };
}

function checkPermitted({ by, user }: ReportOptions, isAdmin: boolean): void {
  const isPersonal = FOR_EVERYONE.includes(by);
  if (!isAdmin && user !== undefined)
    throw new CliError("--user is for administrators", EXIT.forbidden, "leave it out to read your own calls");
  if (!isAdmin && !isPersonal)
    throw new CliError(`--by ${by} is for administrators`, EXIT.forbidden, "use --by model or --by token");
  if (user !== undefined && !isPersonal)
    throw new CliError(`--by ${by} does not go with --user`, EXIT.usage, "use --by model or --by token");
}

/** A period ends before `--until`, so that October ends with its last second. */
function readPeriod({ since, until }: ReportOptions, nowSeconds: number) {
  const start = parsePastTime(since, "--since", nowSeconds);
  const end = until === undefined ? nowSeconds : parsePastTime(until, "--until", nowSeconds) - 1;
  if (end < start) throw new CliError("--until is before --since", EXIT.usage);
  if (end - start > STATISTICS_SPAN_CAP)
    throw new CliError(
      `a report spans at most ${STATISTICS_SPAN_CAP / SECONDS.day} days`,
      EXIT.usage,
      "choose a later --since, or an earlier --until",
    );
  return { start_timestamp: start, end_timestamp: end };
}

function toRows(subject: UsageSubject, hasPoints: boolean): Row[] {
  const row = { subject: subject.subject, name: subject.name };
  if (!hasPoints) return [{ ...row, ...pickFigures(subject) }];
  return subject.points.map((point) => ({ start: point.start, ...row, ...pickFigures(point) }));
}

function pickFigures({ calls, errors, refused, input_tokens, output_tokens, quota }: Figures): Figures {
  return { calls, errors, refused, input_tokens, output_tokens, quota };
}

function buildShape({ by, interval }: ReportOptions, total: number): Shape<Row> {
  const isNamed = by === "model" || by === "group";
  const starts: Column<Row>[] = interval === undefined ? [] : [time("START", "start")];
  const ids: Column<Row>[] = isNamed ? [] : [number("ID", "subject")];
  const share = (one: Row) => (total === 0 ? "-" : `${((100 * one.quota) / total).toFixed(1)} %`);
  return {
    kind: "Report",
    columns: [
      ...starts,
      ...ids,
      plain(by.toUpperCase(), "name"),
      number(by === "channel" ? "ATTEMPTS" : "CALLS", "calls"),
      number("FAILED", "errors"),
      number("IN", "input_tokens"),
      number("OUT", "output_tokens"),
      quota("COST", "quota", 6),
      { title: "SHARE", value: share, isNumber: true },
    ],
    wide: [number("REFUSED", "refused")],
    name: ({ subject }) => `${by}/${subject}`,
  };
}

/** Returns the sums of everything, and the hours that were really counted. */
async function describe(answer: UsageStatistics, by: Dimension, output: Output): Promise<string> {
  const { total, start_timestamp: start, end_timestamp: end, complete_until: until } = answer;
  const amount = `$${dollars(total.quota, 6, await output.quotaPerUnit())} (${total.quota} quota)`;
  const noun = by === "channel" ? "attempts" : "calls";
  const late = until < end ? `, counted until ${formatTime(until)}` : "";
  return `${total.calls} ${noun}, ${total.errors} failed, ${amount} from ${formatTime(start)} to ${formatTime(end)}${late}.`;
}
