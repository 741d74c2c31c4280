import { listedName } from "../../billing/pricing/listed-name.ts";
import { serverAddress } from "@fairway/wire";
import type { AppStorage } from "../storage.ts";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import type { Budgets } from "../../billing/budgets/budgets.ts";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import type { Claims } from "../../limits/claims.ts";
import type { Env } from "../../config/env.ts";
import type { Authenticator } from "../../identity/authentication/caller.ts";
import { randomUUID } from "node:crypto";
import type { Runnable } from "../../lib/async/runnable.ts";
import { createGuardedFetcher, type GuardedFetcher } from "../../lib/net/guarded-fetch.ts";
import type { Network } from "../../lib/net/network.ts";
import { steadyClock, type Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { Metrics } from "../../observability/metrics.ts";
import { providerByType } from "../../providers/registry.ts";
import { createAdmissionQueue } from "../../relay/admission/admission-queue.ts";
import { createFailureReports } from "./failure-reports.ts";
import { composeResponseStore } from "./response-store.ts";
import { createResponsePolicies } from "./response-policies.ts";
import { createBlockedWords } from "../../relay/admission/blocked-words.ts";
import { createCallLimit } from "../../relay/admission/call-limit.ts";
import { createChannelGuard, type ChannelGuard, type Observed } from "../../relay/selection/auto-disable.ts";
import { DeliveryTicker } from "../../relay/response/delivery.ts";
import type { AdmissionDeps } from "../../relay/admission/admission-controller.ts";
import type { PipelineDeps } from "../../relay/pipeline/enter-model.ts";
import { createReporter, type Reporter } from "../../relay/pipeline/report.ts";
import { createErrorRows, type ErrorRows } from "../../relay/trace/error-rows.ts";
import { queueLogRows } from "../../storage/log-rows.ts";
import { createUsageDoubts, type UsageDoubts } from "../../relay/selection/usage-doubts.ts";
import type { SelectionDeps } from "../../relay/selection/types.ts";
import { createRemoteFiles } from "../../relay/upstream/remote-files.ts";
import { createRunningRequests } from "../../relay/reservation/running.ts";
import { createSharedHealth, type SharedHealth } from "../../relay/selection/shared-health.ts";
import { rememberHashes } from "../../identity/keys/key-hashes.ts";
import { createResponseOwners } from "../../relay/stateful/owners.ts";
import { createUpstreams } from "../../relay/upstream/upstream.ts";
import type { RedisClient } from "../../redis/client.ts";
import { createChannel } from "../../redis/pubsub.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";
import { VERSION } from "../../version.ts";

export interface RelayPartsDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly network: Network;
  readonly snapshots: SnapshotStore;
  readonly ledger: Ledger;
  readonly redis: RedisClient | undefined;
  readonly claims: Claims;
  readonly budgets: Budgets;
  readonly counter: TokenCounter;
  readonly authenticator: Pick<Authenticator, "recheck">;
  readonly storage: Pick<AppStorage, "database" | "logDatabase" | "vault">;
  readonly disable: (channelId: number, reason: string, key?: string) => Promise<boolean>;
}

const KEEP_ALIVE_MS = 60_000;
/** A client that reads nothing for this long is disconnected. */
const STUCK_MS = 120_000;

/** Creates everything between the edge and the upstreams. */
export function createRelayParts(deps: RelayPartsDeps): {
  readonly pipeline: PipelineDeps;
  readonly reporter: Reporter;
  /** Fetches addresses that users provide; the owner of the composition closes it. */
  readonly fetcher: GuardedFetcher;
  /** Background services that share upstream health, call the operator's webhook and write rows of failed calls. */
  readonly channels: readonly Runnable[];
  readonly upstreamHealth: SharedHealth;
} {
  const { env, clock, log, metrics, snapshots, ledger, counter } = deps;
  const fetcher = createGuardedFetcher({ network: deps.network });
  const health = createRelayHealth(deps);
  const usageDoubts = createUsageDoubts(steadyClock);
  const responsePolicies = createResponsePolicies(deps);
  const pipeline: PipelineDeps = {
    snapshots,
    running: createRunningRequests((error) => log.warn("a reservation could not be renewed", { error })),
    ticker: new DeliveryTicker({ heartbeatMs: env.heartbeatMs, stuckMs: STUCK_MS }),
    money: { ledger, budgets: deps.budgets, counter, now: () => clock.now(), ...createMoneyReports(deps, usageDoubts) },
    routing: {
      selection: buildSelectionDeps(health, snapshots),
      affinity: health.affinity,
      sticky: health.sticky,
      guard: createRelayGuard(deps, health),
      usageDoubts,
      retry: { totalMs: env.retryTotalSeconds * 1000 },
    },
    upstream: composeUpstreamAccess(deps, fetcher, health),
    policy: {
      checkWords: createBlockedWords(snapshots, log),
      responses: responsePolicies.policies,
      admission: buildAdmissionDeps(deps),
    },
    telemetry: { metrics },
  };
  const errorRows = createRelayErrorRows(deps);
  return {
    pipeline,
    fetcher,
    reporter: createReporter({ log, metrics, errorRows }),
    upstreamHealth: health,
    channels: [...healthChannel(health, deps), responsePolicies, errorRows],
  };
}

function composeUpstreams({ env, network }: RelayPartsDeps) {
  return createUpstreams({
    network,
    connectTimeoutMs: env.connectTimeoutMs,
    keepAliveMs: KEEP_ALIVE_MS,
    isPublicOnly: env.blockPrivateUpstreams,
    allowsLinkLocal: env.allowLinkLocalUpstreams,
  });
}

function composeUpstreamAccess(
  deps: RelayPartsDeps,
  fetcher: GuardedFetcher,
  { prefixes }: Pick<SharedHealth, "prefixes">,
): PipelineDeps["upstream"] {
  const { env, clock, log, metrics, snapshots, counter, storage } = deps;
  const upstreams = composeUpstreams(deps);
  return {
    upstreams,
    http: upstreams.json,
    counter,
    responseStore: composeResponseStore(deps),
    owners: createResponseOwners({
      raw: storage.database.raw,
      channels: () => snapshots.current().channels,
      hashKey: rememberHashes(storage.vault.hashKey),
      clock,
      log,
    }),
    now: () => clock.now(),
    userAgent: `fairway/${VERSION}`,
    files: createRemoteFiles({ fetcher, options: () => snapshots.current().options }),
    promptCaching: { prefixes, current: () => snapshots.current() },
    onCacheMarks: (provider, result) => metrics.cacheMarks(provider, result),
    filterOverrides: () => snapshots.current().options.FilterOverrides,
    outputLimit: (model) => snapshots.current().prices.upstreamLimits(model).outputTokens,
    publicUrl: () => serverAddress(snapshots.current().options, env.publicUrl),
    headersTimeoutMs: { stream: env.streamHeaderTimeoutMs, whole: env.headerTimeoutMs },
    idleTimeoutMs: env.streamIdleTimeoutMs,
    contentTimeoutMs: env.contentTimeoutMs,
    disableKeywords: () => snapshots.current().options.AutomaticDisableKeywords,
    onFilterLearned: (host) => metrics.filterLearned(host),
    onFault(requestId, error) {
      log.error("an answer could not be completed; the client got an error", { request_id: requestId, error });
    },
  };
}

function createRelayErrorRows({ storage, snapshots, clock, log, metrics }: RelayPartsDeps): ErrorRows {
  return createErrorRows({
    options: () => snapshots.current().options,
    insert: async (rows) => {
      const { database, logDatabase } = storage;
      // Rows for a database of their own wait in the main one, also while theirs is away.
      if (logDatabase === database) await database.db.insertInto("logs").values(rows).execute();
      else await queueLogRows(database.raw, rows);
    },
    clock,
    log,
    onLost: (rows) => metrics.errorRowsLost(rows),
  });
}

function createMoneyReports(
  { log, metrics }: RelayPartsDeps,
  usageDoubts: UsageDoubts,
): Pick<PipelineDeps["money"], "onUncomputable" | "onDoubtfulUsage"> {
  return {
    onDoubtfulUsage({ id, spec }, { channel, keyIndex }, { input, output, reported }) {
      usageDoubts.doubt(channel.id, keyIndex, listedName(spec.model));
      metrics.usageBounded(toChannelLabels(channel));
      log.warn("an upstream reported more usage than its answer can have cost, a bounded one is charged", {
        request_id: id,
        channel: channel.id,
        model: spec.model,
        charged: { input, output },
        reported,
      });
    },
    onUncomputable(requestId, charged, error) {
      log.error("the charge of a request cannot be computed, what it had reserved is charged", {
        request_id: requestId,
        quota: charged,
        error,
      });
      metrics.settlementFailed(true);
    },
  };
}

function createRelayHealth(deps: RelayPartsDeps): SharedHealth {
  const { metrics, snapshots } = deps;
  const report = createFailureReports({ ...deps, database: deps.storage.database });
  const health = createSharedHealth({
    clock: steadyClock,
    onBreaker(channelId, isOpen, opening) {
      metrics.breakerChanged(channelId, isOpen);
      report(channelId, opening);
    },
    onAffinity: (rule, isHit) => metrics.affinityAsked(rule, isHit),
  });
  snapshots.subscribe(({ channels }) => health.follow(channels));
  return health;
}

function buildAdmissionDeps({ claims, budgets, snapshots, metrics, authenticator }: RelayPartsDeps): AdmissionDeps {
  const queue = createAdmissionQueue();
  metrics.watch({ admissionQueue: () => queue.waiting });
  const calls = createCallLimit({ claims, options: () => snapshots.current().options, metrics });
  return { claims, budgets, queue, calls, metrics, recheck: (caller) => authenticator.recheck(caller) };
}

function buildSelectionDeps(health: SharedHealth, snapshots: SnapshotStore): SelectionDeps {
  const current = () => snapshots.current();
  return { ...health, random: Math.random, now: () => steadyClock.now(), current, polling: new Map() };
}

function createRelayGuard({ snapshots, log, disable, metrics }: RelayPartsDeps, health: SharedHealth): ChannelGuard {
  const onAttempt: OnAttempt = (attempt, result) => metrics.attempted(toAttemptSample(attempt, result));
  return createChannelGuard({ snapshots, ...health, log, disable, onAttempt });
}

type OnAttempt = Parameters<typeof createChannelGuard>[0]["onAttempt"];

/** Returns one attempt in the form that the metrics count. */
function toAttemptSample(
  ...[{ target, startedAt }, result]: Parameters<OnAttempt>
): Parameters<Metrics["attempted"]>[0] {
  return {
    channel: toChannelLabels(target.channel),
    outcome: classifyAttempt(result),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

function toChannelLabels({ id, name, type }: Observed["target"]["channel"]) {
  return { id, name, type: providerByType(type)?.id ?? String(type) };
}

function classifyAttempt(result: Parameters<OnAttempt>[1]): string {
  switch (result.kind) {
    case "delivered":
      return result.reason === "stop" ? "ok" : result.reason;
    case "failed":
      return result.failure.outcome;
    case "disconnected":
      return "client_abort";
  }
}

/** Shares upstream health. If messages are lost, each replica finds out for itself. */
function healthChannel(health: SharedHealth, { redis, log }: RelayPartsDeps): Runnable[] {
  if (!redis) return [];
  const channel = createChannel({
    redis,
    name: "health",
    log,
    sender: randomUUID(),
    onMessage: health.receive,
    onGap: () => {},
  });
  health.publishBy((text) => {
    if (redis.isReady) void channel.publish(text);
  });
  return [channel];
}
