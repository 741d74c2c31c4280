import { createServer } from "node:http";
import { createCore, type Core } from "./core.ts";
import { createDemo } from "./demo.ts";
import { createRelayAuthenticator, createPublicServer, buildReadRequestDeps, createTraffic } from "./edge.ts";
import { composeLogExport } from "./log-export.ts";
import { createKubernetesRunnables } from "./kubernetes.ts";
import { createLifecycle, type App } from "./lifecycle.ts";
import { createManagement, type Management } from "./management.ts";
import { createRelayParts } from "./relay/relay.ts";
import { selectElector } from "./leader.ts";
import { replicaReports } from "./replica.ts";
import { createAppSchedule } from "./schedule.ts";
import { createObjects } from "./objects.ts";
import { createBatches } from "./batches.ts";
import { createWebhooks } from "./webhooks.ts";
import { createTasks } from "./tasks.ts";
import { composeTracing } from "./tracing.ts";
import { createTokenCounter } from "../billing/tokenizer/token-counter.ts";
import type { Env } from "../config/env.ts";
import { createHealth, type Health } from "../observability/health.ts";
import type { Logger } from "../observability/log.ts";
import { createLoopDelay } from "../observability/loop-delay.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";

const STEPS = ["database", "snapshot", "listener"] as const;

/** Creates the parts in the order of their dependencies. Nothing listens before `start`. */
export async function createApp(env: Env, log: Logger): Promise<App> {
  const core = await createCore(env, log);
  const counter = createTokenCounter();
  const disable = (id: number, reason: string, key?: string) => management.operations.channels.disable(id, reason, key);
  const authenticator = createRelayAuthenticator(core);
  const relay = { authenticator, ...createRelayParts({ ...core, counter, disable, authenticator }) };
  const { pipeline, reporter, fetcher, channels } = relay;
  const reading = buildReadRequestDeps(core, authenticator, pipeline.policy.admission.calls);
  const objects = createObjects(core, pipeline, reading);
  const batches = createBatches({ core, pipeline, reading, objects });
  const webhooks = createWebhooks(core);
  const management: Management = createManagement({ ...objects, ...batches, ...webhooks, ...core, ...relay });
  const loopDelay = createLoopDelay();
  const elector = await selectElector(core);
  const logExport = composeLogExport(core, elector);
  const health = createHealth({
    ...core,
    listDegradations: () => [...core.listDegradations(), ...logExport.listDegradations()],
    loopDelay,
    steps: STEPS,
    inflight: () => ({ count: pipeline.running.requests, limit: env.maxInflight }),
  });
  const tracing = await composeTracing(core);
  const tasks = createTasks({ core, pipeline, reading, disable, fetcher, tracing });
  const work = { tasks, objects, batches, webhooks };
  const handlers = { tasks: tasks.handler, objects, batches: batches.handler };
  const traffic = createTraffic(core, { pipeline, reporter, tracing, health, reading, ...handlers });
  const http = await createPublicServer(core, management, traffic, reading);
  watch(core, pipeline, health);
  return createLifecycle({
    core,
    pipeline,
    management,
    health,
    http,
    admin: createServer(health.handle),
    demo: createDemo(core, management),
    counter,
    runnables: [
      loopDelay,
      health,
      pipeline.running,
      ...core.runnables,
      ...(tracing ? [tracing] : []),
      ...channels,
      ...management.operations.runnables,
      management.background,
      tasks.background,
      ...webhooks.runnables,
      ...(env.roles.has("jobs")
        ? [
            elector,
            createAppSchedule(core, management, { elector, owners: pipeline.upstream.owners, ...work, logExport }),
            ...createKubernetesRunnables(core, management, { elector, health: relay.upstreamHealth }),
          ]
        : []),
      replicaReports(core, pipeline, elector),
    ],
  });
}

function watch({ metrics, snapshots, ledger, env }: Core, { running }: PipelineDeps, health: Health): void {
  metrics.watch({
    inflightRequests: () => running.requests,
    inflightStreams: () => running.streams,
    inflightLimit: () => env.maxInflight,
    settlementQueue: () => ledger.pending,
    isDraining: () => health.isDraining,
  });
  snapshots.subscribe(({ listed }) =>
    metrics.setModels(new Set([...listed.values()].flatMap((models) => [...models]))),
  );
}
