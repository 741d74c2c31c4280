import type { Replica } from "@fairway/wire";
import { repeat } from "../../lib/async/repeat.ts";
import type { Runnable } from "../../lib/async/runnable.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";

/** How often a replica reports, and after how long without a report it is shown as lost. */
const REPORT_MS = 30_000;
const LOST_SECONDS = 90;
/** A replica that died without a word is listed this long. */
const LISTED_SECONDS = 3_600;

const COLUMNS = ["instance", "version", "started_at", "seen_at", "is_leader", "running", "revision"] as const;
const REPORT = { table: "replicas", columns: COLUMNS, key: ["instance"], replace: COLUMNS.slice(1) } as const;

export interface ReplicaReportDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
  readonly instance: string;
  readonly version: string;
  readonly leading: {
    readonly isLeader: boolean;
    /** Each change is reported at once. */
    subscribe(listener: () => void): void;
  };
  /** Requests that run now. */
  readonly running: () => number;
  /** Channels and options that this process uses; each new revision is reported at once. */
  readonly snapshots: {
    revision(): number;
    subscribe(listener: () => void): () => void;
  };
}

/** Reports this process to the others, and removes it when it stops in order. */
export function createReplicaReports(deps: ReplicaReportDeps): Runnable {
  const { database, clock, log, instance, version, snapshots } = deps;
  const { raw, kind } = database;
  const started = seconds(clock);
  let reported = { revision: -1, isLeader: false };
  const report = async () => {
    const now = seconds(clock);
    const revision = snapshots.revision();
    const { isLeader } = deps.leading;
    const values = [instance, version, started, now, isLeader ? 1 : 0, deps.running(), revision];
    await raw.run(upsertSql(kind, REPORT), values);
    await raw.run("delete from replicas where seen_at < ?", [now - LISTED_SECONDS]);
    reported = { revision, isLeader };
  };
  /** Changes during a report share the next one. */
  const reportNew = async () => {
    const isSame = snapshots.revision() === reported.revision && deps.leading.isLeader === reported.isLeader;
    if (!isSame) await report();
  };
  const onError = (error: unknown) => log.warn("replica could not report", { error });
  let unsubscribe = () => {};
  let pending = Promise.resolve();
  let isOn = false;
  const changed = () => {
    if (isOn) pending = pending.then(reportNew).catch(onError);
  };
  deps.leading.subscribe(changed);
  const reports = repeat({ name: "replica reports", everyMs: REPORT_MS, work: report, onError });
  return {
    name: reports.name,
    async start() {
      await report().catch(onError);
      await reports.start();
      isOn = true;
      unsubscribe = snapshots.subscribe(changed);
    },
    async stop() {
      isOn = false;
      unsubscribe();
      await pending;
      await reports.stop();
      await raw.run("delete from replicas where instance = ?", [instance]).catch(onError);
    },
  };
}

/** Longest running first. */
export async function listReplicas({ db }: Database, clock: Clock): Promise<Replica[]> {
  const now = seconds(clock);
  const rows = await db.selectFrom("replicas").selectAll().orderBy("started_at").orderBy("instance").execute();
  return rows.map(({ is_leader: leader, ...row }) => ({
    ...row,
    is_leader: leader === 1,
    is_lost: now - row.seen_at > LOST_SECONDS,
  }));
}
