import { providerByType } from "../providers/registry.ts";
import type { Clock } from "../lib/clock.ts";
import type { ChannelState, Metrics } from "../observability/metrics.ts";
import type { Database } from "../storage/database.ts";
import type { ScheduledJob } from "./schedule.ts";

/** Starts a round over all channels; returns undefined while another replica runs one. */
type BeginRound = () => Promise<{ readonly finished: Promise<void> } | undefined>;

export interface ChannelJobsDeps {
  readonly database: Database;
  readonly testAll: BeginRound;
  readonly refreshBalances: BeginRound;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "setChannels">;
  /** 0 = never. */
  readonly testMinutes: number;
  /** 0 = never. */
  readonly balanceMinutes: number;
}

const MINUTE_MS = 60_000;
const LOOK_MS = 30_000;
const METRICS_MS = 15_000;

/** Channel jobs of the leader: tests, balances and metrics. */
export function channelJobs(deps: ChannelJobsDeps): ScheduledJob[] {
  const { database, metrics } = deps;
  const jobs: ScheduledJob[] = [
    {
      name: "channel-metrics",
      everyMs: METRICS_MS,
      isLeaderOnly: true,
      run: async () => metrics.setChannels(await channelStates(database)),
    },
  ];
  if (deps.testMinutes > 0)
    jobs.push(round(deps, { name: "channel-test", minutes: deps.testMinutes, begin: deps.testAll }));
  if (deps.balanceMinutes > 0)
    jobs.push(round(deps, { name: "channel-balance", minutes: deps.balanceMinutes, begin: deps.refreshBalances }));
  return jobs;
}

interface Round {
  /** This is also the name of its rows in `jobs`. */
  readonly name: string;
  readonly minutes: number;
  readonly begin: BeginRound;
}

/**
 * Schedules a round. The interval survives restarts and leader changes, because it counts from the last round of any
 * replica or user.
 */
function round({ database, clock }: ChannelJobsDeps, { name, minutes, begin }: Round): ScheduledJob {
  const startedAt = clock.now();
  return {
    name,
    everyMs: LOOK_MS,
    isLeaderOnly: true,
    async run() {
      const last = (await lastStart(database, name)) ?? startedAt;
      if (clock.now() - last < minutes * MINUTE_MS) return;
      await (
        await begin()
      )?.finished;
    },
  };
}

async function lastStart({ db }: Database, name: string): Promise<number | undefined> {
  const rows = db.selectFrom("jobs").select("created_at").where("name", "=", name).orderBy("id", "desc").limit(1);
  const row = await rows.executeTakeFirst();
  return row && row.created_at * 1000;
}

async function channelStates({ db }: Database): Promise<ChannelState[]> {
  const rows = await db
    .selectFrom("channels")
    .select(["id", "name", "type", "status", "response_time", "balance", "balance_updated_time"])
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    type: providerByType(row.type)?.id ?? String(row.type),
    status: row.status,
    responseMs: row.response_time,
    balance: row.balance,
    balanceAt: row.balance_updated_time,
  }));
}
