import type { Core } from "./core.ts";
import { serverAddress } from "@fairway/wire";
import { createPoster } from "../lib/net/post-once.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { paced, type ScheduledJob } from "../jobs/schedule.ts";
import type { ReportDeps } from "../resources/reports/build-report.ts";
import { createReportAttachments } from "../resources/reports/saved/attachments.ts";
import { createReportStore } from "../resources/reports/store.ts";
import { readRowNames } from "../storage/row-names.ts";
import { findNamedAccounts } from "../teams/wallet-names.ts";
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
    attach: createAttachments(core, options),
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

/** Mails about reports have their rows as files. */
function createAttachments({ storage, clock }: Core, options: ReportDeps["options"]) {
  const { database, logDatabase: logs } = storage;
  const findNamed = (name: string) => findNamedAccounts(database.db, name);
  const channelNames = (ids: readonly number[]) => readRowNames(database.raw, "channels", ids);
  const store = createReportStore({ logs, database });
  return createReportAttachments({ database, store, clock, options, channelNames, findNamed });
}

function leaderJob(name: string, everyMs: number, run: ScheduledJob["run"]): ScheduledJob {
  return { name, everyMs, isLeaderOnly: true, run };
}
