import type { Replica } from "@fairway/wire";
import { repeat } from "../../lib/async/repeat.ts";
import type { Runnable } from "../../lib/async/runnable.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";

/** How often a replica reports, and after how long without a report it is shown as lost. */
const REPORT_SECONDS = 30;
const LOST_SECONDS = 90;
/** Other requests than those of the last report are reported after at most this long. */
const CHANGE_MS = 5_000;
/** Channels of one report: those with most requests. */
const MAX_CHANNELS = 1_000;
/** A replica that died without a word is listed this long. */
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

/** Requests that run now, and those of each channel. */
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
    /** Each change is reported at once. */
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

/** Reports this process to the others, and removes it when it stops in order. */
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
  /** Changes during a report share the next one. */
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

/** The process that answers: its own numbers are those of this moment. */
export interface Answering {
  readonly instance: string;
  readonly running: Running;
}

/** Longest running first. */
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
