import {
  MAX_SAVED_REPORTS,
  REPORT_ATTACHMENTS,
  REPORT_CADENCES,
  ReportQuestion,
  type ReportCadence,
  type SavedReport,
} from "@fairway/wire";
import type { Selectable } from "kysely";
import * as z from "zod/mini";
import { seconds, type Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../storage/database.ts";
import { insertRow } from "../../../storage/inserts.ts";
import type { Vault } from "../../../storage/secrets/secrets.ts";
import type { SavedReportTable } from "../../../storage/tables/schema-reports.ts";
import { transact } from "../../../storage/transaction.ts";
import { addMailedType } from "../../webhooks/notifications.ts";
import { findNextRun } from "./calendar.ts";
import { listPeople, lockPeople, type ReportOwner } from "./receivers.ts";

export interface SavedReportsDeps {
  readonly database: Database;
  readonly vault: Pick<Vault, "seal" | "open">;
  readonly clock: Clock;
}

export type ReportAttachment = (typeof REPORT_ATTACHMENTS)[number];

export type SavedReportRow = Selectable<SavedReportTable>;

/** What its owner sets. */
export interface SavedReportValues {
  readonly name: string;
  readonly question: ReportQuestion;
  readonly cadence: ReportCadence;
  readonly hour: number;
  readonly mail: boolean;
  /** Ids of people. */
  readonly receivers: readonly number[];
  readonly attach: ReportAttachment;
}

/** Why a report cannot be saved. */
export type SaveFault = "report_name_taken" | "report_limit_reached" | "report_not_found";

export type SavedReports = ReturnType<typeof createSavedReports>;

/** Creates the SQL of saved reports. Each call names the owner, so that no one reaches the report of another. */
export function createSavedReports(deps: SavedReportsDeps) {
  const { db } = deps.database;
  const find = (userId: number, id: number): Promise<SavedReportRow | undefined> =>
    db.selectFrom("saved_reports").selectAll().where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
  return {
    find,

    list: (userId: number): Promise<SavedReportRow[]> =>
      db.selectFrom("saved_reports").selectAll().where("user_id", "=", userId).orderBy("name").orderBy("id").execute(),

    /** Saves a new report, or changes the one with this id; returns its id or why not. */
    save: (owner: ReportOwner, values: SavedReportValues, id?: number): Promise<number | SaveFault> =>
      save(deps, { owner, id, values }),

    /** Returns reports as answers show them. */
    show: (rows: readonly SavedReportRow[]): Promise<SavedReport[]> => showSavedReports(deps, rows),

    async remove(userId: number, id: number): Promise<boolean> {
      const own = db.deleteFrom("saved_reports").where("id", "=", id).where("user_id", "=", userId);
      return (await own.executeTakeFirst()).numDeletedRows > 0n;
    },
  };
}

interface Saving {
  readonly owner: ReportOwner;
  readonly id: number | undefined;
  readonly values: SavedReportValues;
}

/** The row of the owner is locked meanwhile, so that two calls at once make no two reports of one name. */
function save(
  { database, vault, clock }: SavedReportsDeps,
  { owner: { userId, teamId }, id, values }: Saving,
): Promise<number | SaveFault> {
  const now = seconds(clock);
  return transact(database.db, async (trx) => {
    const mailed = [...(values.mail && teamId === undefined ? [userId] : []), ...values.receivers];
    await lockPeople(trx, [userId, ...mailed]);
    const own = await trx.selectFrom("saved_reports").select(["id", "name"]).where("user_id", "=", userId).execute();
    if (id !== undefined && !own.some((row) => row.id === id)) return "report_not_found";
    const wanted = values.name.toLowerCase();
    if (own.some((row) => row.id !== id && row.name.toLowerCase() === wanted)) return "report_name_taken";
    if (id === undefined && own.length >= MAX_SAVED_REPORTS) return "report_limit_reached";
    if (values.cadence !== "none")
      for (const person of mailed) await addMailedType(trx, { vault, now }, person, "report.ready");
    const row = buildRow(values, now);
    if (id === undefined)
      return insertRow(trx, "saved_reports", { ...row, user_id: userId, sent_at: 0, created_at: now });
    await trx.updateTable("saved_reports").set(row).where("id", "=", id).execute();
    return id;
  });
}

function buildRow({ name, question, cadence, hour, mail, receivers, attach }: SavedReportValues, now: number) {
  const timeZone = question.time_zone ?? "UTC";
  return {
    name,
    question: JSON.stringify(question),
    cadence,
    hour,
    mail: mail ? 1 : 0,
    receivers: JSON.stringify(receivers),
    attach,
    next_at: findNextRun({ cadence, hour, timeZone }, now),
    updated_at: now,
  };
}

/** Returns the question of a row. */
export function readStoredQuestion({ question }: Pick<SavedReportRow, "question">): ReportQuestion {
  return ReportQuestion.parse(JSON.parse(question));
}

export function readCadence({ cadence }: Pick<SavedReportRow, "cadence">): ReportCadence {
  return REPORT_CADENCES.find((name) => name === cadence) ?? "none";
}

export function readReceivers({ receivers }: Pick<SavedReportRow, "receivers">): number[] {
  return z.array(z.int()).parse(JSON.parse(receivers));
}

export function readAttachment({ attach }: Pick<SavedReportRow, "attach">): ReportAttachment {
  return REPORT_ATTACHMENTS.find((name) => name === attach) ?? "none";
}

async function showSavedReports(
  { database: { db } }: SavedReportsDeps,
  rows: readonly SavedReportRow[],
): Promise<SavedReport[]> {
  const people = await listPeople(db, [...new Set(rows.flatMap(readReceivers))]);
  return rows.map((row) => {
    const { id, name, hour, mail, next_at, sent_at, created_at, updated_at } = row;
    const ids = new Set(readReceivers(row));
    const receivers = people.flatMap((one) => (ids.has(one.id) ? [one.username] : []));
    const rest = { hour, mail: mail === 1, receivers, attach: readAttachment(row) };
    const times = { next_at, sent_at, created_at, updated_at };
    return { id, name, question: readStoredQuestion(row), cadence: readCadence(row), ...rest, ...times };
  });
}
