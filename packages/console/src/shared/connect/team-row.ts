import { teamLog, type LogPage, type Output } from "@fairway/wire";
import { call } from "../../lib/http.ts";

/** Reads the row of a request from the log of a team. */
export function readTeamRow(
  id: number,
  query: { readonly request_id: string; readonly p: number; readonly page_size: number },
  signal: AbortSignal,
): Promise<Output<typeof LogPage>> {
  return call(teamLog, { params: { id }, query, signal });
}
