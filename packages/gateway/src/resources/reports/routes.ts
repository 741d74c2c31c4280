import { reportUsage, reportUsageSelf } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { EVERYTHING } from "../logs/filter.ts";
import { buildReport, type ReportDeps } from "./build-report.ts";
import { checkOwnFields, readFile, type Asked, type FileAsked } from "./question.ts";
import { sendReport } from "./send-report.ts";

export function reportRoutes(deps: ReportDeps): Route[] {
  return [
    implement(reportUsage, async ({ query, response }) => {
      const file = readFile(query);
      const report = await buildReport(query, { ...EVERYTHING, ...pickFilter(query) }, deps);
      return sendReport(response, report, file);
    }),
    implement(reportUsageSelf, async ({ query, caller, response }) => {
      checkOwnFields(query.by);
      const file = readFile(query);
      const own = { username: "", user_id: 0, channel: 0, ownerId: caller.userId };
      const report = await buildReport(query, { ...EVERYTHING, ...pickFilter(query), ...own }, deps);
      return sendReport(response, report, file);
    }),
  ];
}

/** A team's members read what they used: the route of teams adds them as `actor`. */
function pickFilter<T extends Asked & FileAsked>(query: T) {
  const {
    by: _by,
    start: _start,
    end: _end,
    interval: _interval,
    time_zone: _zone,
    format: _f,
    bom: _b,
    shared: _shared,
    split: _split,
    ...rest
  } = query;
  return rest;
}
