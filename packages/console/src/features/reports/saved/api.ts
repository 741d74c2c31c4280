import {
  savedReportCreate,
  savedReportDelete,
  savedReportList,
  savedReportUpdate,
  type ReportCadence,
  type ReportQuestion,
  type SavedReport,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { queryClient } from "../../../lib/query.ts";

export const savedQuery = queryOptions({
  queryKey: queryKeys.reports.saved,
  queryFn: ({ signal }) => call(savedReportList, { signal }),
});

/** What the dialog of a saved report asks. */
export interface SavedValues {
  readonly name: string;
  readonly cadence: ReportCadence;
  readonly hour: number;
  readonly mail: boolean;
  readonly receivers: readonly string[];
  readonly attach: SavedReport["attach"];
}

function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: queryKeys.reports.saved });
}

/** Saves a new report, or the name and schedule of a known one. */
export async function saveReport(
  values: SavedValues,
  from: { readonly saved: SavedReport | undefined; readonly question: ReportQuestion },
): Promise<SavedReport> {
  const body = { ...values, receivers: [...values.receivers] };
  const saved = from.saved
    ? await call(savedReportUpdate, { params: { id: from.saved.id }, body })
    : await call(savedReportCreate, { body: { ...body, question: from.question } });
  await refresh();
  return saved;
}

/** Replaces what a saved report asks. */
export async function replaceQuestion({ id }: SavedReport, question: ReportQuestion): Promise<void> {
  await call(savedReportUpdate, { params: { id }, body: { question } });
  await refresh();
}

export async function deleteReport({ id }: SavedReport): Promise<void> {
  await call(savedReportDelete, { params: { id } });
  await refresh();
}
