import {
  MAX_SAVED_REPORTS,
  savedReportCreate,
  savedReportDelete,
  savedReportList,
  savedReportRun,
  savedReportUpdate,
  type SavedReport,
} from "@fairway/wire";
import { implement, type Route } from "../../../http/endpoint.ts";
import { seconds } from "../../../lib/clock.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { ReportDeps } from "../build-report.ts";
import { readFile } from "../question.ts";
import { sendReport } from "../send-report.ts";
import { checkQuestion, makeReport } from "./make-report.ts";
import { readStoredQuestion, showSavedReport, type SavedReportRow, type SavedReports } from "./store.ts";

export interface SavedReportRoutesDeps extends ReportDeps {
  readonly saved: SavedReports;
}

/** In the morning the day before is over everywhere in the zone. */
const USUAL_HOUR = 6;

export function savedReportRoutes(deps: SavedReportRoutesDeps): Route[] {
  const { saved, clock } = deps;
  const require = async (userId: number, id: number): Promise<SavedReportRow> => {
    const row = await saved.find(userId, id);
    if (!row) throw new Refusal("report_not_found");
    return row;
  };
  const show = async (userId: number, result: Awaited<ReturnType<SavedReports["save"]>>): Promise<SavedReport> => {
    if (typeof result === "number") return showSavedReport(await require(userId, result));
    if (result === "report_name_taken") throw new Refusal(result, { field: "name" });
    throw new Refusal(result, { values: { n: MAX_SAVED_REPORTS } });
  };
  return [
    implement(savedReportList, async ({ caller }) => (await saved.list(caller.userId)).map(showSavedReport)),
    implement(savedReportCreate, async ({ body, caller }) => {
      checkQuestion(body.question, caller, seconds(clock));
      const { cadence = "none", hour = USUAL_HOUR, mail = true, name, question } = body;
      return show(caller.userId, await saved.save(caller.userId, { name, question, cadence, hour, mail }));
    }),
    implement(savedReportUpdate, async ({ params, body, caller }) => {
      const {
        created_at: _created,
        updated_at: _updated,
        ...known
      } = showSavedReport(await require(caller.userId, params.id));
      if (body.question) checkQuestion(body.question, caller, seconds(clock));
      return show(caller.userId, await saved.save(caller.userId, { ...known, ...dropMissing(body) }, params.id));
    }),
    implement(savedReportDelete, async ({ params, caller }) => {
      if (!(await saved.remove(caller.userId, params.id))) throw new Refusal("report_not_found");
    }),
    implement(savedReportRun, async ({ params, query, caller, response }) => {
      const file = readFile(query);
      const row = await require(caller.userId, params.id);
      const { start, end } = query;
      const report = await makeReport(readStoredQuestion(row), { reader: caller, start, end }, deps);
      return sendReport(response, report, file);
    }),
  ];
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropMissing<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>;
}
