import { ImportCount, JOB_STATUS, type ImportRun, type Job } from "@fairway/wire";
import * as z from "zod/mini";
import type { Selectable } from "kysely";
import { seconds, type Clock } from "../../../lib/clock.ts";
import { parseJson } from "../../../lib/text/json.ts";
import type { Database } from "../../../storage/database.ts";
import { insertRow } from "../../../storage/inserts.ts";
import type { ImportRunTable } from "../../../storage/tables/schema-imports.ts";
import type { JobStore } from "../../jobs/store.ts";
import type { ImportReport } from "../report.ts";

export interface NewRun {
  readonly source: ImportRun["source"];
  readonly place: string;
  readonly isDry: boolean;
  readonly startedBy: number;
}

export type RunStore = ReturnType<typeof createRunStore>;

interface RunStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly jobs: Pick<JobStore, "get">;
}

const LISTED = 20;
/** Older ones are removed when another one begins. */
const MAX_RUNS = 100;
const MAX_PLACE = 255;

const Report = z.object({ counts: z.array(ImportCount), notes: z.array(z.string()) });

/** Creates the SQL of imports that were started in the console. Their progress is that of their job. */
export function createRunStore({ database: { db }, clock, jobs }: RunStoreDeps) {
  const view = async (row: Selectable<ImportRunTable>) => toRun(row, await jobs.get(row.job_id));
  return {
    async add({ source, place, isDry, startedBy }: NewRun): Promise<number> {
      const id = await insertRow(db, "import_runs", {
        job_id: 0,
        source,
        place: place.slice(0, MAX_PLACE),
        dry_run: Number(isDry),
        started_by: startedBy,
        created_at: seconds(clock),
        report: "",
      });
      await db
        .deleteFrom("import_runs")
        .where("id", "<=", id - MAX_RUNS)
        .execute();
      return id;
    },

    async begun(id: number, jobId: number): Promise<void> {
      await db.updateTable("import_runs").set({ job_id: jobId }).where("id", "=", id).execute();
    },

    async withdraw(id: number): Promise<void> {
      await db.deleteFrom("import_runs").where("id", "=", id).execute();
    },

    async keepReport(id: number, report: ImportReport): Promise<void> {
      const text = JSON.stringify({ counts: report.counts(), notes: report.allNotes() });
      await db.updateTable("import_runs").set({ report: text }).where("id", "=", id).execute();
    },

    async latest(): Promise<ImportRun[]> {
      const rows = await db.selectFrom("import_runs").selectAll().orderBy("id", "desc").limit(LISTED).execute();
      return Promise.all(rows.map(view));
    },

    async get(id: number): Promise<ImportRun | undefined> {
      const row = await db.selectFrom("import_runs").selectAll().where("id", "=", id).executeTakeFirst();
      return row && view(row);
    },
  };
}

function toRun(row: Selectable<ImportRunTable>, job: Job | undefined): ImportRun {
  const parsed = Report.safeParse(parseJson(row.report));
  const { counts, notes } = parsed.success ? parsed.data : { counts: [], notes: [] };
  return {
    id: row.id,
    source: row.source,
    place: row.place,
    dry_run: row.dry_run === 1,
    started_by: row.started_by,
    created_at: row.created_at,
    ...readProgress(job),
    counts,
    notes,
  };
}

function readProgress(job: Job | undefined): Pick<ImportRun, "status" | "done" | "total" | "step" | "reason"> {
  if (!job) return { status: JOB_STATUS.interrupted, done: 0, total: 0, step: "", reason: "" };
  const { status, done, total, message } = job;
  const step = status === JOB_STATUS.running ? message : "";
  return { status, done, total, step, reason: status === JOB_STATUS.failed ? message : "" };
}
