import { teamUsage, type UsageStatistics } from "@fairway/wire";
import { call, type CallInput } from "../../lib/http.ts";

/** Reads the figures of calls with keys of a team. */
export function readTeamUsage(
  id: number,
  query: CallInput<typeof teamUsage>["query"],
  signal: AbortSignal,
): Promise<UsageStatistics> {
  return call(teamUsage, { params: { id }, ...(query && { query }), signal });
}
