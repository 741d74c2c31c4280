import {
  formatTime,
  savedReportCreate,
  savedReportDelete,
  savedReportList,
  savedReportRun,
  savedReportUpdate,
  type Client,
  type ReportCadence,
  type ReportQuestion,
  type SavedReport,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printDone, printList, type Output, type Shape } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";
import { deleteEach } from "../each.ts";
import { calculateOffset, type Part } from "../paging.ts";
import { printReportRows, readFields, readPeriod, saveReportFile } from "./usage.ts";

const REPORTS: Shape<SavedReport> = {
  kind: "SavedReport",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    { title: "BY", value: ({ question }) => question.by.join(",") || "-" },
    plain("EVERY", "cadence"),
    time("NEXT", "next_at"),
    time("LAST", "sent_at"),
  ],
  wide: [
    { title: "DAYS", value: ({ question }) => String(question.days), isNumber: true },
    { title: "INTERVAL", value: ({ question }) => question.interval ?? "none" },
    { title: "MAIL", value: ({ mail }) => (mail ? "yes" : "no") },
    time("CREATED", "created_at"),
  ],
  name: ({ id }) => `report/${id}`,
};

/** What a saved report asks. */
export interface QuestionOptions {
  readonly by?: string;
  readonly days?: number;
  readonly interval?: ReportQuestion["interval"];
  readonly timeZone?: string;
  readonly tag?: readonly string[];
  readonly endUser?: string;
  readonly model?: string;
  readonly group?: string;
  readonly user?: string;
}

export interface ScheduleOptions {
  readonly every?: ReportCadence;
  readonly hour?: number;
  readonly mail?: boolean;
}

export interface RunOptions extends Part {
  readonly since?: string;
  readonly until?: string;
  readonly format?: "csv" | "parquet";
  readonly outputFile?: string;
}

const USUAL_DAYS = 30;

export async function listReports(client: Client, output: Output): Promise<void> {
  const { data: rows } = await client.call(savedReportList, {});
  const empty = "No saved reports. Save one: fairway report save monthly --by tag:app,model";
  await printList(output, { ...REPORTS, rows, empty });
}

/** Saves a report; a report of the same name asks the new question from now on, and keeps its schedule. */
export async function saveReport(
  client: Client,
  name: string,
  options: QuestionOptions & ScheduleOptions,
  output: Output,
): Promise<void> {
  const known = (await client.call(savedReportList, {})).data.find((row) => row.name === name);
  const body = { name, question: buildQuestion(options), ...buildSchedule(options) };
  const { data } = known
    ? await client.call(savedReportUpdate, { params: { id: known.id }, body })
    : await client.call(savedReportCreate, { body });
  await printDone(output, data, describe(known ? "Changed" : "Saved", data), REPORTS);
}

export async function scheduleReport(
  client: Client,
  text: string,
  options: ScheduleOptions,
  output: Output,
): Promise<void> {
  const body = buildSchedule(options);
  if (Object.keys(body).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag, such as --every month");
  const { id } = await findReport(client, text);
  const { data } = await client.call(savedReportUpdate, { params: { id }, body });
  await printDone(output, data, describe("Changed", data), REPORTS);
}

/** Makes a saved report: its rows, or a file as the gateway writes it. */
export async function runReport(
  client: SessionClient,
  text: string,
  options: RunOptions,
  { output, nowSeconds }: { readonly output: Output; readonly nowSeconds: number },
): Promise<void> {
  calculateOffset(options);
  const { since, until, format, outputFile } = options;
  const { id, question } = await findReport(client, text);
  const bounds = since === undefined ? readEnd(until, nowSeconds) : readPeriod({ since, until }, nowSeconds);
  const call = { params: { id }, query: bounds };
  if (format !== undefined || outputFile !== undefined) {
    const open = (written: "csv" | "parquet") =>
      client.open(savedReportRun, { ...call, query: { ...bounds, format: written } });
    return saveReportFile(open, { format, outputFile }, output);
  }
  const { data } = await client.call(savedReportRun, call);
  await printReportRows(data, { ...options, interval: question.interval ?? "none" }, output);
}

export async function deleteReports(
  client: Client,
  texts: readonly string[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const rows: SavedReport[] = [];
  for (const text of texts) rows.push(await findReport(client, text));
  const deletion = {
    noun: "report",
    kind: "SavedReportDelete",
    ids: rows.map(({ id }) => id),
    question: (named: string) => `Delete saved report ${named}`,
    loadName: async (id: number) => rows.find((row) => row.id === id)?.name ?? "",
    remove: (id: number) => client.call(savedReportDelete, { params: { id } }),
  };
  await deleteEach(deletion, yes, output);
}

/** Returns the saved report of an id, of `report/5` or of a name. */
async function findReport(client: Client, text: string): Promise<SavedReport> {
  const name = text.replace(/^report\//, "");
  const rows = (await client.call(savedReportList, {})).data;
  const named =
    rows.find((row) => row.name === name) ?? rows.find((row) => row.name.toLowerCase() === name.toLowerCase());
  const found = named ?? (/^\d+$/.test(name) ? rows.find(({ id }) => id === Number(name)) : undefined);
  if (!found) throw new CliError(`there is no saved report ${name}`, EXIT.notFound, "`fairway report list` lists them");
  return found;
}

function buildQuestion({
  by,
  days,
  interval,
  timeZone,
  tag,
  endUser,
  model,
  group,
  user,
}: QuestionOptions): ReportQuestion {
  return {
    by: by === undefined ? [] : readFields(by),
    days: days ?? USUAL_DAYS,
    time_zone: timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...dropAbsent({
      interval,
      tags: tag?.join("|"),
      end_user: endUser,
      model_name: model,
      group,
      username: user,
    }),
  };
}

function buildSchedule({ every, hour, mail }: ScheduleOptions) {
  return dropAbsent({ cadence: every, hour, mail });
}

/** A period ends now, or before `--until`. */
function readEnd(until: string | undefined, nowSeconds: number): { readonly start: number; readonly end: number } {
  return until === undefined
    ? { start: 0, end: 0 }
    : { start: 0, end: readPeriod({ since: "1h", until }, nowSeconds).end };
}

/** Returns a sentence such as `Saved report 5: monthly, each month, next on 2026-12-01 06:00.` */
function describe(verb: string, { id, name, cadence, next_at: next }: SavedReport): string {
  const schedule = cadence === "none" ? "not scheduled" : `each ${cadence}, next at ${formatTime(next)}`;
  return `${verb} report ${id}: ${name}, ${schedule}.`;
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropAbsent<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>;
}
