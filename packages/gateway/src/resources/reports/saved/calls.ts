import {
  MAX_SAVED_REPORTS,
  type savedReportCreate,
  type savedReportRun,
  type savedReportUpdate,
  type SavedReport,
  type UsageReport,
} from "@fairway/wire";
import type { ServerResponse } from "node:http";
import type { Call } from "../../../http/endpoint.ts";
import { seconds } from "../../../lib/clock.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { Database } from "../../../storage/database.ts";
import type { ReportDeps } from "../build-report.ts";
import { readFile } from "../question.ts";
import { sendReport } from "../send-report.ts";
import { checkQuestion, makeReport } from "./make-report.ts";
import { findReceivers, type ReportOwner } from "./receivers.ts";
import {
  readAttachment,
  readCadence,
  readReceivers,
  readStoredQuestion,
  type SavedReportRow,
  type SavedReports,
} from "./store.ts";

export interface SavedReportDeps extends ReportDeps {
  readonly saved: SavedReports;
  readonly database: Database;
}

/** In the morning the day before is over everywhere in the zone. */
const USUAL_HOUR = 6;

export type SavedReportCalls = ReturnType<typeof createSavedReportCalls>;

/** Creates what people do with their saved reports, and admins with those of their team. */
export function createSavedReportCalls(deps: SavedReportDeps) {
  const { saved, clock, database } = deps;
  const require = async ({ userId }: ReportOwner, id: number): Promise<SavedReportRow> => {
    const row = await saved.find(userId, id);
    if (!row) throw new Refusal("report_not_found");
    return row;
  };
  const show = async (owner: ReportOwner, result: Awaited<ReturnType<SavedReports["save"]>>): Promise<SavedReport> => {
    if (typeof result === "number") {
      const [shown] = await saved.show([await require(owner, result)]);
      return shown as SavedReport;
    }
    if (result === "report_name_taken") throw new Refusal(result, { field: "name" });
    throw new Refusal(result, { values: { n: MAX_SAVED_REPORTS } });
  };
  return {
    list: async ({ userId }: ReportOwner): Promise<SavedReport[]> => saved.show(await saved.list(userId)),

    async create(owner: ReportOwner, body: Call<typeof savedReportCreate>["body"]): Promise<SavedReport> {
      checkQuestion(body.question, owner, seconds(clock));
      const { cadence = "none", hour = USUAL_HOUR, mail = true, attach = "none", name, question } = body;
      const receivers = await findReceivers(database.db, owner, body.receivers ?? []);
      return show(owner, await saved.save(owner, { name, question, cadence, hour, mail, receivers, attach }));
    },

    async update(owner: ReportOwner, id: number, body: Call<typeof savedReportUpdate>["body"]): Promise<SavedReport> {
      const row = await require(owner, id);
      if (body.question) checkQuestion(body.question, owner, seconds(clock));
      const { name = row.name, question = readStoredQuestion(row), cadence = readCadence(row), hour = row.hour } = body;
      const { mail = row.mail === 1, attach = readAttachment(row) } = body;
      const receivers = body.receivers ? await findReceivers(database.db, owner, body.receivers) : readReceivers(row);
      return show(owner, await saved.save(owner, { name, question, cadence, hour, mail, receivers, attach }, id));
    },

    async remove({ userId }: ReportOwner, id: number): Promise<void> {
      if (!(await saved.remove(userId, id))) throw new Refusal("report_not_found");
    },

    async run(
      owner: ReportOwner,
      id: number,
      query: Call<typeof savedReportRun>["query"],
      response: ServerResponse,
    ): Promise<UsageReport> {
      const file = readFile(query);
      const row = await require(owner, id);
      const { start, end } = query;
      const report = await makeReport(readStoredQuestion(row), { reader: owner, start, end }, deps);
      return sendReport(response, report, file);
    },
  };
}
