import type { Core } from "./core.ts";
import { serverAddress } from "@fairway/wire";
import { createPoster } from "../lib/net/post-once.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { paced, type ScheduledJob } from "../jobs/schedule.ts";
import { createFanOut } from "../webhooks/fan-out.ts";
import { createSender } from "../webhooks/sending/sender.ts";
import { measureBacklog, tidyEvents } from "../webhooks/tidy.ts";
import type { WebhookDeps } from "../webhooks/types.ts";

const WORK_MS = 1_000;
const MEASURE_MS = 15_000;
const TIDY_MINUTES = 60;

/** Messages about events. */
export interface Webhooks {
  /** What their calls need. */
  readonly webhooks: WebhookDeps;
  readonly jobs: readonly ScheduledJob[];
  readonly runnables: readonly Runnable[];
}

export function createWebhooks(core: Core): Webhooks {
  const { storage, env, snapshots, network, identity } = core;
  const options = () => snapshots.current().options;
  const poster = createPoster({ network });
  const deps: WebhookDeps = {
    ...core,
    ...storage,
    poster,
    mailer: identity.mailer,
    options,
    serverAddress: () => serverAddress(options(), env.publicUrl),
    random: Math.random,
  };
  const sender = createSender(deps);
  const tidy = paced(
    core.clock,
    () => TIDY_MINUTES,
    (signal) => tidyEvents(deps, signal),
  );
  return {
    webhooks: deps,
    jobs: [
      leaderJob("event-fan-out", WORK_MS, createFanOut(deps)),
      leaderJob("event-send", WORK_MS, (signal, confirm) => sender.run(signal, confirm)),
      leaderJob("event-backlog", MEASURE_MS, () => measureBacklog(deps)),
      leaderJob("event-tidy", MEASURE_MS, tidy),
    ],
    runnables: [{ name: "webhook connections", start() {}, stop: () => poster.close() }, sender],
  };
}

function leaderJob(name: string, everyMs: number, run: ScheduledJob["run"]): ScheduledJob {
  return { name, everyMs, isLeaderOnly: true, run };
}
