import {
  importConfigStart,
  importDatabaseStart,
  importRunList,
  importServerStart,
  JOB_STATUS,
  type ImportRun,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { queryClient } from "../../../lib/query.ts";
import { buildImport, buildServerImport, type ImportForm } from "./import-form.ts";
import type { en } from "./locale/en.ts";

const POLL_MS = 1_000;

export function isRunning(run: ImportRun): boolean {
  return run.status === JOB_STATUS.running;
}

/** The latest imports, which are read again while one of them runs. */
export const runsQuery = queryOptions({
  queryKey: queryKeys.imports.latest,
  queryFn: ({ signal }) => call(importRunList, { signal }),
  refetchInterval: (query) => (query.state.data?.some(isRunning) ? POLL_MS : false),
  retry: false,
});

const FAULTS = {
  config: "empty",
  variables: "badVariable",
  address: "badAddress",
  token: "badToken",
  userId: "badUser",
} as const satisfies Record<string, keyof typeof en>;

type Fault = (typeof FAULTS)[keyof typeof FAULTS] | "noFile";

/** Starts an import or its trial; returns its id, or the text of what the form lacks. */
export async function startImport(form: ImportForm, isDry: boolean): Promise<number | Fault> {
  const started = await send(form, isDry);
  if (typeof started === "string") return started;
  await queryClient.invalidateQueries({ queryKey: queryKeys.imports.latest });
  void queryClient.invalidateQueries({ queryKey: queryKeys.jobs.channels });
  return started.id;
}

async function send(form: ImportForm, isDry: boolean): Promise<{ readonly id: number } | Fault> {
  const { source, file } = form;
  if (source === "config") {
    const body = buildImport(form, isDry);
    return typeof body === "string" ? FAULTS[body] : call(importConfigStart, { body });
  }
  if (source === "database") {
    if (!file) return "noFile";
    const query = {
      name: file.name,
      bytes: String(file.size),
      from: form.family,
      dry_run: isDry ? "true" : undefined,
      logs: form.withLogs ? "true" : undefined,
    };
    return call(importDatabaseStart, { query, file });
  }
  const body = buildServerImport(source, form, isDry);
  return typeof body === "string" ? FAULTS[body] : call(importServerStart, { body });
}
