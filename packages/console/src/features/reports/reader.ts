import { reportUsage, reportUsageSelf, teamReport, type UsageReport } from "@fairway/wire";
import { buildUrl, call } from "../../lib/http.ts";

/** Whose calls a report sums. */
export interface Reader {
  readonly of: "everyone" | "self" | "team";
  /** Id of the team; 0 = none. */
  readonly team: number;
  /** How the log names whose calls these are, "" = by the filters alone; undefined if the reader's log lacks them. */
  readonly inLog: string | undefined;
  /** What the reader may do with saved reports. */
  readonly saved: "none" | "run" | "change";
}

export const EVERYONE: Reader = { of: "everyone", team: 0, inLog: "", saved: "change" };
export const SELF: Reader = { of: "self", team: 0, inLog: "", saved: "change" };

type Query = Readonly<Record<string, string | number>>;

export function readUsage(reader: Reader, query: Query, signal: AbortSignal): Promise<UsageReport> {
  if (reader.of === "team") return call(teamReport, { params: { id: reader.team }, query, signal });
  return reader.of === "everyone" ? call(reportUsage, { query, signal }) : call(reportUsageSelf, { query, signal });
}

/** Returns the address of the same report as a file. */
export function buildUsageUrl(reader: Reader, query: Query): string {
  if (reader.of === "team") return buildUrl(teamReport, { params: { id: reader.team }, query });
  return buildUrl(reader.of === "everyone" ? reportUsage : reportUsageSelf, { query });
}
