import type { Replica } from "@fairway/wire";
import { repeat } from "../../lib/async/repeat.ts";
import type { Runnable } from "../../lib/async/runnable.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";

/** The interval of a replica's reports, and the time without a report after which it is shown as lost. */
const REPORT_SECONDS = 30;
const LOST_SECONDS = 90;
/** Maximum time until a change of the running requests is reported. */
const CHANGE_MS = 5_000;
/** Maximum number of channels in a report; those with the most requests are included. */
const MAX_CHANNELS = 1_000;
/** How long a replica that died without a final report is still listed. */
const LISTED_SECONDS = 3_600;

const COLUMNS = [
  "instance",
  "version",
  "started_at",
  "seen_at",
  "is_leader",
  "running",
  "revision",
  "channels",
] as const;
const REPORT = { table: "replicas", columns: COLUMNS, key: ["instance"], replace: COLUMNS.slice(1) } as const;

/** The running requests, in total and by channel. */
export interface Running {
  readonly requests: number;
  byChannel(): ReadonlyMap<number, number>;
}

export interface ReplicaReportDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
  readonly instance: string;
  readonly version: string;
  readonly leading: {
    readonly isLeader: boolean;
    /** Calls the listener at once for each change. */
    subscribe(listener: () => void): void;
  };
  readonly running: Running;
  readonly changeMs?: number;
  /** Channels and options that this process uses; each new revision is reported at once. */
  readonly snapshots: {
    revision(): number;
    subscribe(listener: () => void): () => void;
  };
}

/** Reports this process to the other replicas, and removes it after an orderly stop. */
export function createReplicaReports(deps: ReplicaReportDeps): Runnable {
  const { database, clock, log, instance, version, running, snapshots } = deps;
  const { raw, kind } = database;
  const started = seconds(clock);
  let reported = { revision: -1, isLeader: false, requests: 0, channels: "", at: 0 };
  const report = async () => {
    const { isLeader } = deps.leading;
    const next = { revision: snapshots.revision(), isLeader, ...busy(running), at: seconds(clock) };
    const { revision, requests, channels, at } = next;
    const values = [instance, version, started, at, isLeader ? 1 : 0, requests, revision, channels];
    await raw.run(upsertSql(kind, REPORT), values);
    reported = next;
  };
  const reportAndTidy = async () => {
    await report();
    await raw.run("delete from replicas where seen_at < ?", [seconds(clock) - LISTED_SECONDS]);
  };
  /** Changes during a report are included in the next one. */
  const reportNew = async () => {
    const isSame = snapshots.revision() === reported.revision && deps.leading.isLeader === reported.isLeader;
    if (!isSame) await report();
  };
  const reportDue = async () => {
    if (seconds(clock) - reported.at >= REPORT_SECONDS) return reportAndTidy();
    const { requests, channels } = busy(running);
    if (requests !== reported.requests || channels !== reported.channels) await report();
  };
  const onError = (error: unknown) => log.warn("replica could not report", { error });
  let unsubscribe = () => {};
  let pending = Promise.resolve();
  let isOn = false;
  const changed = () => {
    if (isOn) pending = pending.then(reportNew).catch(onError);
  };
  deps.leading.subscribe(changed);
  const reports = repeat({ name: "replica reports", everyMs: deps.changeMs ?? CHANGE_MS, work: reportDue, onError });
  return {
    name: reports.name,
    async start() {
      await reportAndTidy().catch(onError);
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

function busy(running: Running): { readonly requests: number; readonly channels: string } {
  const most = [...running.byChannel()].toSorted(([a, more], [b, less]) => less - more || a - b).slice(0, MAX_CHANNELS);
  return { requests: running.requests, channels: JSON.stringify(Object.fromEntries(most)) };
}

/** The process that responds; its own numbers are current. */
export interface Answering {
  readonly instance: string;
  readonly running: Running;
}

/** Lists replicas, the longest-running first. */
export async function listReplicas({ db }: Database, clock: Clock, answering?: Answering): Promise<Replica[]> {
  const now = seconds(clock);
  const rows = await db.selectFrom("replicas").selectAll().orderBy("started_at").orderBy("instance").execute();
  return rows.map(({ is_leader: leader, channels, ...row }) => ({
    ...row,
    is_leader: leader === 1,
    is_lost: now - row.seen_at > LOST_SECONDS,
    channels: countsIn(channels),
    ...(row.instance === answering?.instance ? numbersNow(answering.running, now) : {}),
  }));
}

function numbersNow(running: Running, now: number) {
  const channels = Object.fromEntries(running.byChannel()) as Record<string, number>;
  return { seen_at: now, is_lost: false, running: running.requests, channels };
}

function countsIn(text: string | null): Record<string, number> {
  return (text === null ? {} : (parseObject(text) ?? {})) as Record<string, number>;
}
