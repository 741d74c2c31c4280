import { teamList, type TeamSummary } from "@fairway/wire";
import { call } from "../lib/http.ts";

/** A person is in at most this many teams. */
const MOST_TEAMS = 100;

export function readOwnTeams(signal: AbortSignal): Promise<TeamSummary[]> {
  return call(teamList, { query: { mine: true, page_size: MOST_TEAMS }, signal });
}
