import type { MailAttachment } from "../../../identity/mail/mailer.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { Database } from "../../../storage/database.ts";
import type { StoredEvent } from "../../../webhooks/types.ts";
import type { ReportDeps } from "../build-report.ts";
import { formatReportCsv } from "../csv.ts";
import { makeReport } from "./make-report.ts";
import { findReportOwner } from "./receivers.ts";
import { readAttachment, readStoredQuestion } from "./store.ts";

export interface AttachmentDeps extends ReportDeps {
  readonly database: Database;
}

/** Servers refuse larger mails; the link leads to the same rows. */
const MAX_BYTES = 5 * 1024 * 1024;
/** Reports that are due together come in one mail. */
const MAX_FILES = 5;

/** Creates the files of a mail about reports: their rows are made again from the log, whose past does not change. */
export function createReportAttachments(deps: AttachmentDeps) {
  return async function attach(events: readonly StoredEvent[]): Promise<readonly MailAttachment[]> {
    const files: MailAttachment[] = [];
    let bytes = 0;
    for (const event of events.filter(({ type }) => type === "report.ready").slice(0, MAX_FILES)) {
      const file = await makeFile(deps, event);
      bytes += file?.content.length ?? 0;
      if (file && bytes <= MAX_BYTES) files.push(file);
    }
    return files;
  };
}

async function makeFile(deps: AttachmentDeps, { data }: StoredEvent): Promise<MailAttachment | undefined> {
  const { db } = deps.database;
  const reports = db.selectFrom("saved_reports").selectAll().where("id", "=", Number(data["id"]));
  const row = await reports.executeTakeFirst();
  if (!row || readAttachment(row) === "none") return undefined;
  const reader = await findReportOwner(db, row.user_id);
  if (!reader) return undefined;
  const [start, end] = [Number(data["period_start"]), Number(data["period_end"])];
  try {
    const report = await makeReport(readStoredQuestion(row), { reader, start, end }, deps);
    const day = new Date(start * 1000).toISOString().slice(0, 10);
    // Spreadsheets read the letters of all languages only with the mark.
    const content = Buffer.from(formatReportCsv(report, true));
    return { filename: `${row.name.replace(/[^\p{L}\p{N}._-]+/gu, "-")}-${day}.csv`, content, contentType: "text/csv" };
  } catch (error) {
    // The owner must not ask this any more.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
