import {
  LOG_TYPE,
  teamAdjust,
  teamAudit,
  teamCreate,
  teamDelete,
  teamLeave,
  teamList,
  teamLog,
  teamReport,
  teamRestore,
  teamTransfer,
  teamUpdate,
  type Input,
  type LogRow,
  type TeamSummary,
  type TeamView,
} from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { readRows, type Rows, type Version } from "../../lib/rows.ts";

export interface TeamFilter {
  readonly page: number;
  readonly size: number;
  readonly q: string;
  readonly mine: boolean;
}

export function teamsQuery(filter: TeamFilter) {
  return queryOptions({
    queryKey: queryKeys.teams.list(filter),
    queryFn: ({ signal }): Promise<Rows<TeamSummary>> =>
      readRows(teamList, {
        query: { p: filter.page - 1, page_size: filter.size, keyword: filter.q, mine: filter.mine || undefined },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

/** Reads what changed in the lists and inside the teams. */
export function refreshTeams(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.teams.all });
}

/** Sends a change and shows what it changed, also if it was refused. */
export async function andRefresh<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } finally {
    void refreshTeams();
  }
}

export function createTeam(body: Input<typeof teamCreate.body>): Promise<TeamView> {
  return andRefresh(call(teamCreate, { body }));
}

export type TeamChange = Input<typeof teamUpdate.body>;

export function updateTeam({ row, tag }: Version<TeamView>, body: TeamChange): Promise<TeamView> {
  return andRefresh(call(teamUpdate, { params: { id: row.id }, body, ifMatch: tag }));
}

export function switchTeam(id: number, status: number): Promise<TeamView> {
  return andRefresh(call(teamUpdate, { params: { id }, body: { status } }));
}

export function leaveTeam(id: number): Promise<unknown> {
  return andRefresh(call(teamLeave, { params: { id } }));
}

export function deleteTeam({ id, slug }: TeamView): Promise<{ quota: number }> {
  return andRefresh(call(teamDelete, { params: { id }, query: { confirm: slug } }));
}

export function restoreTeam(id: number): Promise<TeamView> {
  return andRefresh(call(teamRestore, { params: { id } }));
}

/** Every attempt to send one amount uses the same key, so that it is moved once. */
export interface Movement {
  readonly id: number;
  readonly quota: number;
  readonly key: string;
}

export async function transferToTeam({ id, quota, key }: Movement): Promise<void> {
  await andRefresh(call(teamTransfer, { params: { id }, body: { quota }, idempotencyKey: key }));
  await queryClient.invalidateQueries({ queryKey: queryKeys.self.all });
}

export async function adjustTeam({ id, quota, key }: Movement, note: string): Promise<void> {
  await andRefresh(call(teamAdjust, { params: { id }, body: { quota, note }, idempotencyKey: key }));
}

export function auditQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(id, "audit"),
    queryFn: ({ signal }) => call(teamAudit, { params: { id }, query: { page_size: MOST_ROWS }, signal }),
  });
}

/** Rows of a panel; the rest is in the log. */
const MOST_ROWS = 20;

/** What was moved to the wallet or from it, without calls, newest first. */
export function moneyQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(id, "money"),
    queryFn: async ({ signal }): Promise<readonly LogRow[]> => {
      const read = (type: number) =>
        call(teamLog, { params: { id }, query: { type, p: 1, page_size: MOST_ROWS }, signal });
      const pages = await Promise.all([read(LOG_TYPE.topup), read(LOG_TYPE.manage)]);
      const rows = pages.flatMap(({ items }) => items);
      return rows.toSorted((a, b) => b.created_at - a.created_at).slice(0, MOST_ROWS);
    },
  });
}

/** What each holder of keys spent in the last 30 days; the most expensive first. */
export function holdersQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(id, "holders"),
    queryFn: ({ signal }) => call(teamReport, { params: { id }, query: { by: "actor" }, signal }),
  });
}

/** The last calls with keys of the team. */
export function callsQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(id, "calls"),
    queryFn: ({ signal }) =>
      call(teamLog, { params: { id }, query: { type: LOG_TYPE.consume, p: 1, page_size: MOST_ROWS }, signal }),
  });
}
