import {
  formatTime,
  savedReportCreate,
  savedReportDelete,
  savedReportList,
  savedReportRun,
  savedReportUpdate,
  teamSavedReportCreate,
  teamSavedReportDelete,
  teamSavedReportList,
  teamSavedReportRun,
  teamSavedReportUpdate,
  type CallInput,
  type ReportCadence,
  type ReportQuestion,
  type SavedReport,
  type UsageReport,
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
    { title: "SHARED", value: ({ question }) => question.shared ?? "-" },
    { title: "MAIL", value: ({ mail }) => (mail ? "yes" : "no") },
    { title: "TO", value: ({ receivers }) => receivers.join(",") || "-" },
    plain("ATTACHED", "attach"),
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
  /** Tags whose cost the other values share. */
  readonly share?: readonly string[];
  readonly split?: string;
  readonly model?: string;
  readonly group?: string;
  readonly user?: string;
}

export interface ScheduleOptions {
  readonly every?: ReportCadence;
  readonly hour?: number;
  readonly mail?: boolean;
  /** Names of people. */
  readonly to?: readonly string[];
  readonly attach?: SavedReport["attach"];
}

/** The saved reports that commands are about: those of the caller, or of a team. */
export interface ReportOwner {
  list(): Promise<readonly SavedReport[]>;
  create(body: NonNullable<CallInput<typeof savedReportCreate>["body"]>): Promise<SavedReport>;
  update(id: number, body: NonNullable<CallInput<typeof savedReportUpdate>["body"]>): Promise<SavedReport>;
  remove(id: number): Promise<unknown>;
  run(id: number, query: RunQuery): Promise<UsageReport>;
  open(id: number, query: RunQuery): ReturnType<SessionClient["open"]>;
}

type RunQuery = NonNullable<CallInput<typeof savedReportRun>["query"]>;

export function openReports(client: SessionClient, team: number | undefined): ReportOwner {
  if (team !== undefined) return openOfTeam(client, team);
  const params = (id: number) => ({ params: { id } });
  return {
    list: async () => (await client.call(savedReportList, {})).data,
    create: async (body) => (await client.call(savedReportCreate, { body })).data,
    update: async (id, body) => (await client.call(savedReportUpdate, { ...params(id), body })).data,
    remove: (id) => client.call(savedReportDelete, params(id)),
    run: async (id, query) => (await client.call(savedReportRun, { ...params(id), query })).data,
    open: (id, query) => client.open(savedReportRun, { ...params(id), query }),
  };
}

function openOfTeam(client: SessionClient, team: number): ReportOwner {
  const params = (rid: number) => ({ params: { id: team, rid } });
  return {
    list: async () => (await client.call(teamSavedReportList, { params: { id: team } })).data,
    create: async (body) => (await client.call(teamSavedReportCreate, { params: { id: team }, body })).data,
    update: async (id, body) => (await client.call(teamSavedReportUpdate, { ...params(id), body })).data,
    remove: (id) => client.call(teamSavedReportDelete, params(id)),
    run: async (id, query) => (await client.call(teamSavedReportRun, { ...params(id), query })).data,
    open: (id, query) => client.open(teamSavedReportRun, { ...params(id), query }),
  };
}

export interface RunOptions extends Part {
  readonly since?: string;
  readonly until?: string;
  readonly format?: "csv" | "parquet";
  readonly outputFile?: string;
}

const USUAL_DAYS = 30;
/** Takes all receivers away. */
const NO_RECEIVER = "none";

export async function listReports(reports: ReportOwner, output: Output): Promise<void> {
  const rows = await reports.list();
  const empty = "No saved reports. Save one: fairway report save monthly --by tag:app,model";
  await printList(output, { ...REPORTS, rows, empty });
}

/** Saves a report; a report of the same name asks the new question from now on, and keeps its schedule. */
export async function saveReport(
  reports: ReportOwner,
  name: string,
  options: QuestionOptions & ScheduleOptions,
  output: Output,
): Promise<void> {
  const known = (await reports.list()).find((row) => row.name === name);
  const body = { name, question: buildQuestion(options), ...buildSchedule(options) };
  const data = known ? await reports.update(known.id, body) : await reports.create(body);
  await printDone(output, data, describe(known ? "Changed" : "Saved", data), REPORTS);
}

export async function scheduleReport(
  reports: ReportOwner,
  text: string,
  options: ScheduleOptions,
  output: Output,
): Promise<void> {
  const body = buildSchedule(options);
  if (Object.keys(body).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag, such as --every month");
  const { id } = await findReport(reports, text);
  const data = await reports.update(id, body);
  await printDone(output, data, describe("Changed", data), REPORTS);
}

/** Makes a saved report: its rows, or a file as the gateway writes it. */
export async function runReport(
  reports: ReportOwner,
  text: string,
  options: RunOptions,
  { output, nowSeconds }: { readonly output: Output; readonly nowSeconds: number },
): Promise<void> {
  calculateOffset(options);
  const { since, until, format, outputFile } = options;
  const { id, question } = await findReport(reports, text);
  const bounds = since === undefined ? readEnd(until, nowSeconds) : readPeriod({ since, until }, nowSeconds);
  if (format !== undefined || outputFile !== undefined) {
    const open = (written: "csv" | "parquet") => reports.open(id, { ...bounds, format: written });
    return saveReportFile(open, { format, outputFile }, output);
  }
  const data = await reports.run(id, bounds);
  await printReportRows(data, { ...options, interval: question.interval ?? "none" }, output);
}

export async function deleteReports(
  reports: ReportOwner,
  texts: readonly string[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const rows: SavedReport[] = [];
  for (const text of texts) rows.push(await findReport(reports, text));
  const deletion = {
    noun: "report",
    kind: "SavedReportDelete",
    ids: rows.map(({ id }) => id),
    question: (named: string) => `Delete saved report ${named}`,
    loadName: async (id: number) => rows.find((row) => row.id === id)?.name ?? "",
    remove: (id: number) => reports.remove(id),
  };
  await deleteEach(deletion, yes, output);
}

/** Returns the saved report of an id, of `report/5` or of a name. */
async function findReport(reports: ReportOwner, text: string): Promise<SavedReport> {
  const name = text.replace(/^report\//, "");
  const rows = await reports.list();
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
  share,
  split,
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
      shared: share?.join("|"),
      split,
      model_name: model,
      group,
      username: user,
    }),
  };
}

function buildSchedule({ every, hour, mail, to, attach }: ScheduleOptions) {
  const receivers = to && [...new Set(to)].filter((name) => name !== NO_RECEIVER);
  return dropAbsent({ cadence: every, hour, mail, receivers, attach });
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
