import type { AppStorage } from "../storage.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Runnable } from "../../lib/async/runnable.ts";
import type { Network } from "../../lib/net/network.ts";
import type { Logger } from "../../observability/log.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { RedisClient } from "../../redis/client.ts";
import { createRedisAnswers, type Answers } from "../../relay/policies/cache/answers.ts";
import { createResponseCache } from "../../relay/policies/cache/response-cache.ts";
import { createMemoryEntries } from "../../relay/ttl-store/memory.ts";
import { createGuardrail } from "../../relay/policies/guardrail/guardrail.ts";
import { createWebhook } from "../../relay/policies/guardrail/webhook.ts";
import { createGuardrailReports } from "./failure-reports.ts";
import type { ResponsePolicyDeps } from "../../relay/policies/response-policies.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";

export interface ResponsePoliciesDeps {
  readonly storage: Pick<AppStorage, "vault" | "database">;
  readonly redis: RedisClient | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly network: Network;
  readonly snapshots: Pick<SnapshotStore, "subscribe">;
}

/** One line per minute is logged while Redis is down; the metric counts every call. */
const LOG_EVERY_MS = 60_000;

/** Creates the guardrail and the response cache; both are idle until the options enable them. */
export function createResponsePolicies(
  deps: ResponsePoliciesDeps,
): Runnable & { readonly policies: ResponsePolicyDeps } {
  const { log, metrics, clock, snapshots, storage } = deps;
  const now = () => clock.now();
  const webhook = createWebhook(now, deps.network);
  const onFailing = createGuardrailReports({ ...deps, database: storage.database });
  const answers = createAnswers(deps);
  metrics.watch({ responseCacheBytes: () => answers.bytes });
  snapshots.subscribe(({ responseCache }) => {
    if (!responseCache) answers.clear();
  });
  return {
    name: "guardrail",
    start() {},
    stop: () => webhook.close(),
    policies: {
      guardrail: createGuardrail({ webhook, log, metrics, onFailing }),
      cache: createResponseCache({ answers, vault: storage.vault, metrics, now }),
    },
  };
}

function createAnswers({ redis, storage, ...reporting }: ResponsePoliciesDeps): Answers {
  if (!redis) return createMemoryEntries();
  const onFailure = reportLosses("responses", "cached answers are out of reach: every request is a miss", reporting);
  return createRedisAnswers({ redis, sealer: storage.vault, onFailure });
}

/** Counts the losses of a cache, and logs them from time to time. */
export function reportLosses(
  cache: string,
  message: string,
  { log, metrics }: Pick<ResponsePoliciesDeps, "log" | "metrics">,
): (error: unknown) => void {
  let loggedAt = -Infinity;
  return (error) => {
    metrics.cacheFailed(cache);
    if (performance.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = performance.now();
    log.warn(message, { error });
  };
}
