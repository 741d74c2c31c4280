import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, pathId } from "../core/envelope.ts";
import { UsageReport } from "../operations/reports.ts";
import {
  SavedReport,
  savedReportCreate,
  savedReportDelete,
  savedReportRun,
  savedReportUpdate,
} from "../operations/saved-reports.ts";

const GONE = ["team_not_found", "team_right_missing"] as const;
const params = z.object({ id: pathId, rid: pathId });

export const teamSavedReportList = endpoint({
  name: "teamSavedReportList",
  method: "GET",
  path: "/api/team/{id}/report/saved/",
  access: "user",
  summary: "Lists the saved reports of a team by name.",
  params: idParams,
  data: z.array(SavedReport),
  fails: GONE,
});

export const teamSavedReportCreate = endpoint({
  name: "teamSavedReportCreate",
  method: "POST",
  path: "/api/team/{id}/report/saved/",
  access: "user",
  summary: "Saves a report of the team's own calls, and schedules it if asked to.",
  params: idParams,
  body: savedReportCreate.body,
  data: SavedReport,
  fails: [...GONE, ...savedReportCreate.fails],
});

export const teamSavedReportUpdate = endpoint({
  name: "teamSavedReportUpdate",
  method: "PUT",
  path: "/api/team/{id}/report/saved/{rid}",
  access: "user",
  summary: "Changes a saved report of a team or its schedule; absent members stay.",
  params,
  body: savedReportUpdate.body,
  data: SavedReport,
  fails: [...GONE, ...savedReportUpdate.fails],
});

export const teamSavedReportDelete = endpoint({
  name: "teamSavedReportDelete",
  method: "DELETE",
  path: "/api/team/{id}/report/saved/{rid}",
  access: "user",
  summary: "Deletes a saved report of a team and its schedule.",
  params,
  fails: [...GONE, ...savedReportDelete.fails],
});

export const teamSavedReportRun = endpoint({
  name: "teamSavedReportRun",
  method: "GET",
  path: "/api/team/{id}/report/saved/{rid}/usage",
  access: "user",
  summary: "Makes a saved report of the team's own calls.",
  params,
  query: savedReportRun.query,
  data: UsageReport,
  fails: [...GONE, ...savedReportRun.fails],
});
