import { JOB_STATUS, type Job, type JobStatus } from "@fairway/wire";
import { sql, type Kysely, type Selectable } from "kysely";
import { recordEvent } from "../../events/record-event.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { insertRow } from "../../storage/inserts.ts";
import type { JobTable, Schema } from "../../storage/tables/schema.ts";
import { serverTime } from "../../storage/engines/server-time.ts";
import { transact } from "../../storage/transaction.ts";

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly message: string;
}

export interface FailedJob {
  readonly name: string;
  readonly reason: string;
}

export interface JobStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export type JobStore = ReturnType<typeof createJobStore>;

/** A lease that is not renewed for this long belongs to a process that died. */
export const LEASE_MS = 60_000;
const LISTED = 50;
const REASON_CHARACTERS = 200;

/**
 * Creates the SQL of background jobs: their rows, and the lease that lets only one job of each name run in the whole
 * cluster. Leases expire by the clock of the database, since the clocks of replicas may differ by more than a lease.
 */
export function createJobStore({ database: { db, kind }, clock }: JobStoreDeps) {
  const now = serverTime(kind);
  const end = sql<number>`${now} + ${sql.lit(LEASE_MS)}`;
  return {
    async create(name: string, startedBy: number): Promise<number> {
      const now = seconds(clock);
      const times = { created_at: now, updated_at: now, finished_at: 0 };
      const progress = JSON.stringify(NO_PROGRESS);
      return insertRow(db, "jobs", { name, status: JOB_STATUS.running, progress, started_by: startedBy, ...times });
    },

    async save(id: number, progress: Progress, status: JobStatus = JOB_STATUS.running): Promise<void> {
      const now = seconds(clock);
      const finished_at = status === JOB_STATUS.running ? 0 : now;
      const values = { progress: JSON.stringify(progress), status, updated_at: now, finished_at };
      await db.updateTable("jobs").set(values).where("id", "=", id).execute();
    },

    /** Closes a job that failed, with its event. */
    fail: (id: number, progress: Progress, failed: FailedJob): Promise<void> =>
      closeFailed(db, { id, progress, ...failed }, clock),

    async get(id: number): Promise<Job | undefined> {
      const row = await db.selectFrom("jobs").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toJob(row, clock);
    },

    async latest(): Promise<Job[]> {
      const rows = await db.selectFrom("jobs").selectAll().orderBy("id", "desc").limit(LISTED).execute();
      return rows.map((row) => toJob(row, clock));
    },

    /** Returns false if another replica holds the lease. */
    async take(name: string, holder: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable("leases")
        .set((eb) => ({ holder, expires_at: end, term: eb("term", "+", 1) }))
        .where("name", "=", name)
        .where("expires_at", "<", now)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows > 0n) return true;
      try {
        await db.insertInto("leases").values({ name, holder, term: 1, expires_at: end }).execute();
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },

    /** Returns false if another replica holds the lease. */
    async renew(name: string, holder: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable("leases")
        .set({ expires_at: end })
        .where("name", "=", name)
        .where("holder", "=", holder)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },

    async release(name: string, holder: string): Promise<void> {
      const free = { expires_at: 0 };
      await db.updateTable("leases").set(free).where("name", "=", name).where("holder", "=", holder).execute();
    },
  };
}

async function closeFailed(
  db: Kysely<Schema>,
  { id, progress, name, reason }: FailedJob & { readonly id: number; readonly progress: Progress },
  clock: Clock,
): Promise<void> {
  const now = seconds(clock);
  const ended = { status: JOB_STATUS.failed, updated_at: now, finished_at: now };
  await transact(db, async (trx) => {
    await trx
      .updateTable("jobs")
      .set({ ...ended, progress: JSON.stringify(progress) })
      .where("id", "=", id)
      .execute();
    const data = { id, name, reason: reason.slice(0, REASON_CHARACTERS) };
    await recordEvent(trx, { type: "job.failed", atMs: clock.now(), dedupKey: `job.failed:${id}`, data });
  });
}

export const NO_PROGRESS: Progress = { done: 0, total: 0, failed: 0, message: "" };

/** Returns a job. If its process died, its row still says "running"; readers see that nothing updates it any more. */
function toJob(row: Selectable<JobTable>, clock: Clock): Job {
  const progress = parseObject(row.progress) ?? {};
  const count = (name: string) => (typeof progress[name] === "number" ? progress[name] : 0);
  const isDead = row.status === JOB_STATUS.running && row.updated_at * 1000 < clock.now() - LEASE_MS;
  return {
    id: row.id,
    name: row.name,
    status: isDead ? JOB_STATUS.interrupted : parseJobStatus(row.status),
    done: count("done"),
    total: count("total"),
    failed: count("failed"),
    message: typeof progress["message"] === "string" ? progress["message"] : "",
    started_by: row.started_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
    finished_at: row.finished_at,
  };
}

function parseJobStatus(text: string): JobStatus {
  return Object.values(JOB_STATUS).find((status) => status === text) ?? JOB_STATUS.failed;
}
