import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";
import { AuditRow } from "../operations/audit.ts";
import { logListSelf, LogPage, LogStat, logStatSelf } from "../operations/logs.ts";
import { usageStatisticsSelf, UsageStatistics } from "../operations/statistics.ts";

const GONE = ["team_not_found", "team_right_missing"] as const;

export const teamLog = endpoint({
  name: "teamLog",
  method: "GET",
  path: "/api/team/{id}/log",
  access: "user",
  summary: "Lists log rows of a team, newest first: all of them, or for members those of their own keys.",
  params: idParams,
  query: logListSelf.query,
  data: LogPage,
  fails: [...GONE, "log_unreachable"],
});

export const teamLogStat = endpoint({
  name: "teamLogStat",
  method: "GET",
  path: "/api/team/{id}/log/stat",
  access: "user",
  summary: "Quota spent in the range, and calls and tokens of the last minute; for members, of their own keys.",
  params: idParams,
  query: logStatSelf.query,
  data: LogStat,
  fails: [...GONE, "log_unreachable"],
});

export const teamUsage = endpoint({
  name: "teamUsage",
  method: "GET",
  path: "/api/team/{id}/statistics/usage",
  access: "user",
  summary: "Calls, errors, spending and percentiles of a team, by `all`, `token` or `model`.",
  params: idParams,
  query: usageStatisticsSelf.query,
  data: UsageStatistics,
  fails: [...GONE, "invalid_parameter"],
});

export const teamAudit = endpoint({
  name: "teamAudit",
  method: "GET",
  path: "/api/team/{id}/audit",
  access: "user",
  summary: "Who changed the team, its members and its keys, the latest first.",
  params: idParams,
  query: z.object(pageFields),
  data: z.array(AuditRow),
  fails: GONE,
});
