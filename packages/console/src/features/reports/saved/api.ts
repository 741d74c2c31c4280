import {
  savedReportCreate,
  savedReportDelete,
  savedReportList,
  savedReportUpdate,
  teamSavedReportCreate,
  teamSavedReportDelete,
  teamSavedReportList,
  teamSavedReportUpdate,
  type Input,
  type ReportCadence,
  type ReportQuestion,
  type SavedReport,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { queryClient } from "../../../lib/query.ts";
import type { Reader } from "../reader.ts";

/** Whose saved reports they are: a team's, or with 0 the reader's own. */
type Owner = Pick<Reader, "team">;

export function savedQuery({ team }: Owner) {
  return queryOptions({
    queryKey: queryKeys.reports.saved(team),
    queryFn: ({ signal }) =>
      team === 0 ? call(savedReportList, { signal }) : call(teamSavedReportList, { params: { id: team }, signal }),
  });
}

/** What the dialog of a saved report asks. */
export interface SavedValues {
  readonly name: string;
  readonly cadence: ReportCadence;
  readonly hour: number;
  readonly mail: boolean;
  readonly receivers: readonly string[];
  readonly attach: SavedReport["attach"];
}

function refresh({ team }: Owner): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.reports.saved(team) });
}

function create({ team }: Owner, body: Input<typeof savedReportCreate.body>): Promise<SavedReport> {
  return team === 0 ? call(savedReportCreate, { body }) : call(teamSavedReportCreate, { params: { id: team }, body });
}

function update({ team }: Owner, id: number, body: Input<typeof savedReportUpdate.body>): Promise<SavedReport> {
  return team === 0
    ? call(savedReportUpdate, { params: { id }, body })
    : call(teamSavedReportUpdate, { params: { id: team, rid: id }, body });
}

/** Saves a new report, or the name and schedule of a known one. */
export async function saveReport(
  owner: Owner,
  values: SavedValues,
  from: { readonly saved: SavedReport | undefined; readonly question: ReportQuestion },
): Promise<SavedReport> {
  const body = { ...values, receivers: [...values.receivers] };
  const saved = from.saved
    ? await update(owner, from.saved.id, body)
    : await create(owner, { ...body, question: from.question });
  await refresh(owner);
  return saved;
}

/** Replaces what a saved report asks. */
export async function replaceQuestion(owner: Owner, { id }: SavedReport, question: ReportQuestion): Promise<void> {
  await update(owner, id, { question });
  await refresh(owner);
}

export async function deleteReport(owner: Owner, { id }: SavedReport): Promise<void> {
  await (owner.team === 0
    ? call(savedReportDelete, { params: { id } })
    : call(teamSavedReportDelete, { params: { id: owner.team, rid: id } }));
  await refresh(owner);
}
