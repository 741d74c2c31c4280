import type { DegradationStatus } from "./degradation-status.ts";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

export interface MetricDefinition {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in seconds. */
  readonly buckets?: readonly number[];
}

const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LONG = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
const FIRST_TOKEN = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60];
const CHANNEL = ["channel_id", "channel_name", "channel_type"] as const;

/** Every metric of the gateway; dashboards and alerts know these names. */
const DEFINITIONS = {
  build: gauge("build_info", "Always 1; which program this is.", "version", "node", "commit"),
  httpRequests: counter(
    "http_requests_total",
    "Calls of the management API that were answered.",
    "route",
    "method",
    "code",
  ),
  httpSeconds: histogram(
    "http_request_duration_seconds",
    "Time from the request to the end of its answer.",
    SHORT,
    "route",
    "method",
    "code",
  ),
  relayRequests: counter(
    "relay_requests_total",
    "Relayed requests by how they ended. Of models that cannot be served, `model_not_found` are those that no channel of the caller's groups has, `no_channel` those whose channels are all off.",
    "endpoint",
    "model",
    "group",
    "outcome",
  ),
  relaySeconds: histogram(
    "relay_duration_seconds",
    "Time from the request to the last byte of its answer.",
    LONG,
    "endpoint",
    "model",
    "stream",
  ),
  firstTokenSeconds: histogram(
    "relay_ttft_seconds",
    "Time from the request to the first content.",
    FIRST_TOKEN,
    "endpoint",
    "model",
    "stream",
  ),
  tokens: counter("relay_tokens_total", "Tokens that were charged, input or output.", "model", "direction"),
  quota: counter("quota_charged_total", "Quota units that were charged.", "model", "group"),
  attempts: counter("upstream_attempts_total", "Calls of upstreams by how they ended.", ...CHANNEL, "outcome"),
  usageBounded: counter(
    "usage_bounded_total",
    "Answers whose upstream reported more usage than they can have cost.",
    ...CHANNEL,
  ),
  breakerChanges: counter(
    "channel_breaker_changes_total",
    "Times that calls of a channel's key were stopped after failures (open), or let through again (closed).",
    "channel_id",
    "state",
  ),
  limited: counter("limit_refusals_total", "Claims that a limit refused.", "scope", "kind"),
  queueSeconds: histogram(
    "admission_wait_seconds",
    "Time that requests waited for a channel whose own limits were reached.",
    SHORT,
    "channel_id",
  ),
  queueLength: gauge("admission_queue_length", "Requests that wait for a channel."),
  limitOutages: counter("limit_outages_total", "Limits that were decided without Redis.", "rule"),
  upstreamSeconds: histogram(
    "upstream_duration_seconds",
    "Time of calls of upstreams.",
    LONG,
    "channel_id",
    "channel_type",
  ),
  inflightRequests: gauge("inflight_requests", "Relayed requests under way."),
  inflightStreams: gauge("inflight_streams", "Streamed answers under way."),
  inflightLimit: gauge("inflight_streams_limit", "Relayed requests that may be under way; 0 = no limit."),
  channelStatus: gauge(
    "channel_status",
    "1 enabled, 2 disabled by hand, 3 disabled by the system; of the leader.",
    ...CHANNEL,
  ),
  channelResponse: gauge("channel_response_ms", "Time of the last test; of the leader.", ...CHANNEL),
  channelBalance: gauge("channel_balance_usd", "Balance at the upstream; of the leader.", ...CHANNEL),
  channelBalanceAt: gauge("channel_balance_timestamp_seconds", "When the balance was read; of the leader.", ...CHANNEL),
  settlementQueue: gauge("settlement_queue_depth", "Charges that are not in the database yet."),
  ledgerBacklog: gauge("ledger_backlog", "Charges in Redis on their way to the database, of all processes."),
  ledgerDrift: gauge("ledger_drift_accounts", "Differences that the last audit found between Redis and the database."),
  ledgerOutages: counter("ledger_outage_requests_total", "New requests that met a Redis that was away.", "mode"),
  budgetOutages: counter(
    "budget_outages_total",
    "Budgets that the database was asked for in vain: the request was refused, passed unreserved, its charge is deferred to the reaper or lost to a budget that was made while it ran.",
    "meaning",
  ),
  journalBytes: gauge("journal_bytes", "Charges that this process keeps on its disk."),
  settlementFailures: counter(
    "settlement_failures_total",
    "Charges that could not be written, tried again unless final; final also where the reservation was charged because the charge could not be computed.",
    "final",
  ),
  logRowsRefused: counter(
    "log_rows_refused_total",
    "Log rows that the database refused for what they hold; their charges are booked.",
  ),
  dependencyUp: gauge("dependency_up", "1 when the last check succeeded.", "dependency"),
  dependencySeconds: histogram("dependency_latency_seconds", "Time of checks.", SHORT, "dependency"),
  degraded: gauge(
    "degraded",
    "1 while a part works by its option for outages of Redis or the database.",
    "part",
    "mode",
  ),
  affinityRequests: counter(
    "affinity_requests_total",
    "Requests of conversations, by whether they went to the channel that served the conversation last.",
    "rule",
    "result",
  ),
  cacheHits: counter("cache_hits_total", "Answers from memory.", "cache"),
  cacheMisses: counter("cache_misses_total", "Questions that memory could not answer.", "cache"),
  cacheFailures: counter("cache_failures_total", "Questions and answers that a cache lost.", "cache"),
  responseCacheBytes: gauge("response_cache_bytes", "Answers that this process keeps in memory for equal requests."),
  keptResponsesBytes: gauge("kept_responses_bytes", "Responses that this process keeps in memory for follow-ups."),
  guardrailVerdicts: counter(
    "guardrail_verdicts_total",
    "Texts that the guardrail judged: allow, block, or failed when no verdict came.",
    "phase",
    "verdict",
  ),
  guardrailSeconds: histogram("guardrail_duration_seconds", "Time of calls of the guardrail.", SHORT, "phase"),
  leader: gauge("leader", "1 on the replica that does the work which only one may do."),
  leaderTransitions: counter(
    "leader_transitions_total",
    "Times that this replica became the leader or ceased to be it.",
  ),
  draining: gauge("draining", "1 while the process is ending."),
  drainAborted: counter("drain_streams_aborted_total", "Streams that a stop cut off."),
  gitopsSynced: gauge("gitops_resource_synced", "1 when the resource is as declared.", "kind", "namespace", "name"),
  jobSuccess: gauge("job_last_success_timestamp_seconds", "When the job last succeeded.", "job"),
} as const satisfies Record<string, MetricDefinition>;

export const METRICS: readonly MetricDefinition[] = Object.values(DEFINITIONS);

export interface ChannelLabels {
  readonly id: number;
  readonly name: string;
  /** Id of the provider. */
  readonly type: string;
}

export interface ChannelState extends ChannelLabels {
  readonly status: number;
  readonly responseMs: number;
  readonly balance: number;
  /** Epoch seconds; 0 = never read. */
  readonly balanceAt: number;
}

/** Numbers that somebody keeps anyway; asked for at each scrape. */
export interface Gauges {
  readonly inflightRequests: () => number;
  readonly inflightStreams: () => number;
  readonly inflightLimit: () => number;
  readonly settlementQueue: () => number;
  readonly ledgerBacklog: () => number;
  readonly journalBytes: () => number;
  readonly admissionQueue: () => number;
  readonly responseCacheBytes: () => number;
  readonly keptResponsesBytes: () => number;
  /** What each part does now. */
  readonly conduct: () => readonly DegradationStatus[];
  readonly isDraining: () => boolean;
  readonly isLeader: () => boolean;
}

/** Model names that are not configured count as `other`: clients choose them, so there is no end of them. */
export interface Metrics {
  relayed(request: {
    operation: string;
    model: string;
    group: string;
    stream: boolean;
    outcome: string;
    seconds: number;
  }): void;
  firstToken(request: { operation: string; model: string; seconds: number }): void;
  charged(charge: { model: string; group: string; quota: number; input: number; output: number }): void;
  attempted(attempt: { channel: ChannelLabels; outcome: string; seconds: number }): void;
  /** An upstream reported more usage than can be true. */
  usageBounded(channel: ChannelLabels): void;
  /** A limit of `scope` refused a claim of `kind`. */
  limited(scope: string, kind: string): void;
  /** A request left the queue of a channel. */
  queued(channelId: number, seconds: number): void;
  /** Redis did not answer for a limit. */
  limitOutage(rule: string): void;
  heldWithoutRedis(mode: "deny" | "sql"): void;
  /** The database did not answer for a budget. */
  budgetNotAsked(meaning: "refused" | "passed" | "deferred" | "lost"): void;
  ledgerAudited(differences: number): void;
  /** Seen by this replica; what others tell is counted there. */
  breakerChanged(channelId: number, isOpen: boolean): void;
  /** `route` is a path pattern, never a path. */
  answered(answer: { route: string; method: string; code: number; seconds: number }): void;
  settlementFailed(isFinal: boolean): void;
  logRowRefused(): void;
  dependency(check: { name: string; isUp: boolean; seconds: number }): void;
  cacheAsked(cache: string, isHit: boolean): void;
  /** A request of a conversation that `rule` recognised; a hit went where the conversation was served last. */
  affinityAsked(rule: string, isHit: boolean): void;
  cacheFailed(cache: string): void;
  judged(verdict: { phase: string; verdict: string; seconds: number }): void;
  leaderChanged(): void;
  drainAborted(streams: number): void;
  resourceSynced(resource: { kind: string; namespace: string; name: string; isSynced: boolean }): void;
  resourceGone(resource: { kind: string; namespace: string; name: string }): void;
  jobSucceeded(job: string, atSeconds: number): void;
  /** Replaces the states of all channels; an empty list when another replica leads. */
  setChannels(channels: readonly ChannelState[]): void;
  /** Names that may stand in labels. */
  setModels(models: ReadonlySet<string>): void;
  watch(gauges: Partial<Gauges>): void;
  /** The text that Prometheus reads, and its content type. */
  expose(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface MetricsSettings {
  readonly version: string;
  readonly commit?: string;
}

const OTHER = "other";

const NOTHING: Gauges = {
  inflightRequests: () => 0,
  inflightStreams: () => 0,
  inflightLimit: () => 0,
  settlementQueue: () => 0,
  ledgerBacklog: () => 0,
  journalBytes: () => 0,
  admissionQueue: () => 0,
  responseCacheBytes: () => 0,
  keptResponsesBytes: () => 0,
  conduct: () => [],
  isDraining: () => false,
  isLeader: () => false,
};

function begin(registry: Registry, build: Readonly<Record<string, string>>): Objects {
  collectDefaultMetrics({ register: registry });
  const of = create(registry);
  of.build.set(build, 1);
  // A series that begins with its first failure shows no increase.
  for (const final of ["true", "false"]) of.settlementFailures.inc({ final }, 0);
  return of;
}

export function createMetrics({ version, commit = "" }: MetricsSettings): Metrics {
  const registry = new Registry();
  const of = begin(registry, { version, node: process.version, commit });
  let models: ReadonlySet<string> = new Set();
  let gauges = NOTHING;
  const named = (model: string) => (models.has(model) ? model : OTHER);

  return {
    relayed({ operation, model, group, stream, outcome, seconds }) {
      const [endpoint, name] = [operation, named(model)];
      of.relayRequests.inc({ endpoint, model: name, group, outcome });
      of.relaySeconds.observe({ endpoint, model: name, stream: String(stream) }, seconds);
    },
    firstToken({ operation, model, seconds }) {
      of.firstTokenSeconds.observe({ endpoint: operation, model: named(model), stream: "true" }, seconds);
    },
    charged({ model, group, quota, input, output }) {
      const name = named(model);
      of.quota.inc({ model: name, group }, quota);
      of.tokens.inc({ model: name, direction: "input" }, input);
      of.tokens.inc({ model: name, direction: "output" }, output);
    },
    attempted({ channel, outcome, seconds }) {
      of.attempts.inc({ ...channelLabels(channel), outcome });
      of.upstreamSeconds.observe({ channel_id: channel.id, channel_type: channel.type }, seconds);
    },
    usageBounded: (channel) => of.usageBounded.inc(channelLabels(channel)),
    limited: (scope, kind) => of.limited.inc({ scope, kind }),
    queued: (id, seconds) => of.queueSeconds.observe({ channel_id: id }, seconds),
    heldWithoutRedis: (mode) => of.ledgerOutages.inc({ mode }),
    budgetNotAsked: (meaning) => of.budgetOutages.inc({ meaning }),
    ledgerAudited: (differences) => of.ledgerDrift.set(differences),
    limitOutage: (rule) => of.limitOutages.inc({ rule }),
    breakerChanged: (id, isOpen) => of.breakerChanges.inc({ channel_id: id, state: isOpen ? "open" : "closed" }),
    answered({ route, method, code, seconds }) {
      of.httpRequests.inc({ route, method, code });
      of.httpSeconds.observe({ route, method, code }, seconds);
    },
    logRowRefused: () => of.logRowsRefused.inc(),
    settlementFailed: (isFinal) => of.settlementFailures.inc({ final: String(isFinal) }),
    dependency({ name, isUp, seconds }) {
      of.dependencyUp.set({ dependency: name }, Number(isUp));
      of.dependencySeconds.observe({ dependency: name }, seconds);
    },
    ...memoryMetrics(of),
    leaderChanged: () => of.leaderTransitions.inc(),
    drainAborted: (streams) => of.drainAborted.inc(streams),
    resourceSynced: ({ kind, namespace, name, isSynced }) =>
      of.gitopsSynced.set({ kind, namespace, name }, Number(isSynced)),
    resourceGone: ({ kind, namespace, name }) => of.gitopsSynced.remove({ kind, namespace, name }),
    jobSucceeded: (job, atSeconds) => of.jobSuccess.set({ job }, atSeconds),
    setChannels: (channels) => setChannels(of, channels),
    setModels: (names) => (models = names),
    watch: (more) => (gauges = { ...gauges, ...more }),
    async expose() {
      readGauges(of, gauges);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** What is remembered, and what a webhook says. */
function memoryMetrics(of: Objects): Pick<Metrics, "cacheAsked" | "cacheFailed" | "affinityAsked" | "judged"> {
  return {
    judged({ phase, verdict, seconds }) {
      of.guardrailVerdicts.inc({ phase, verdict });
      of.guardrailSeconds.observe({ phase }, seconds);
    },
    cacheAsked: (cache, isHit) => (isHit ? of.cacheHits : of.cacheMisses).inc({ cache }),
    cacheFailed: (cache) => of.cacheFailures.inc({ cache }),
    affinityAsked: (rule, isHit) => of.affinityRequests.inc({ rule, result: isHit ? "hit" : "miss" }),
  };
}

type Objects = { readonly [K in keyof typeof DEFINITIONS]: ObjectOf<(typeof DEFINITIONS)[K]["type"]> };
type ObjectOf<T> = T extends "counter" ? Counter : T extends "gauge" ? Gauge : Histogram;

function create(registry: Registry): Objects {
  const objects = Object.entries<MetricDefinition>(DEFINITIONS).map(([key, { name, type, help, labels, buckets }]) => {
    const settings = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === "histogram") return [key, new Histogram({ ...settings, buckets: [...(buckets ?? SHORT)] })];
    return [key, type === "counter" ? new Counter(settings) : new Gauge(settings)];
  });
  return Object.fromEntries(objects) as Objects;
}

function readGauges(of: Objects, gauges: Gauges): void {
  of.degraded.reset();
  for (const { part, mode, isNormal } of gauges.conduct()) of.degraded.set({ part, mode }, Number(!isNormal));
  of.inflightRequests.set(gauges.inflightRequests());
  of.inflightStreams.set(gauges.inflightStreams());
  of.inflightLimit.set(gauges.inflightLimit());
  of.settlementQueue.set(gauges.settlementQueue());
  of.ledgerBacklog.set(gauges.ledgerBacklog());
  of.journalBytes.set(gauges.journalBytes());
  of.queueLength.set(gauges.admissionQueue());
  of.responseCacheBytes.set(gauges.responseCacheBytes());
  of.keptResponsesBytes.set(gauges.keptResponsesBytes());
  of.draining.set(Number(gauges.isDraining()));
  of.leader.set(Number(gauges.isLeader()));
}

function setChannels(of: Objects, channels: readonly ChannelState[]): void {
  for (const metric of [of.channelStatus, of.channelResponse, of.channelBalance, of.channelBalanceAt]) metric.reset();
  for (const channel of channels) {
    const labels = channelLabels(channel);
    of.channelStatus.set(labels, channel.status);
    of.channelResponse.set(labels, channel.responseMs);
    if (channel.balanceAt === 0) continue;
    of.channelBalance.set(labels, channel.balance);
    of.channelBalanceAt.set(labels, channel.balanceAt);
  }
}

function channelLabels({ id, name, type }: ChannelLabels): Record<(typeof CHANNEL)[number], string | number> {
  return { channel_id: id, channel_name: name, channel_type: type };
}

function counter(name: string, help: string, ...labels: string[]) {
  return { name: `fairway_${name}`, type: "counter", help, labels } as const;
}

function gauge(name: string, help: string, ...labels: string[]) {
  return { name: `fairway_${name}`, type: "gauge", help, labels } as const;
}

function histogram(name: string, help: string, buckets: readonly number[], ...labels: string[]) {
  return { name: `fairway_${name}`, type: "histogram", help, labels, buckets } as const;
}
