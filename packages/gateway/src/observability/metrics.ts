import { systemClock, type Clock } from "../lib/clock.ts";
import type { DegradationStatus } from "./degradation-status.ts";
import { type CHANNEL, DEFINITIONS } from "./metric-definitions.ts";
import { createObjects, type Objects } from "./metric-objects.ts";
import { batchMetrics, NO_BATCHES, setBatchGauges, type BatchCounts, type BatchMetrics } from "./batch-metrics.ts";
import { CounterTally } from "./counter-tally.ts";
import { Exemplars, type Exemplar } from "./exemplars.ts";
import type { CollectedMetric, Exposition } from "./exposition.ts";
import { openMetrics } from "./open-metrics.ts";
import { Registry, collectDefaultMetrics } from "prom-client";

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

/** Numbers maintained elsewhere, read at each scrape. */
export interface Gauges {
  readonly inflightRequests: () => number;
  readonly inflightStreams: () => number;
  readonly inflightLimit: () => number;
  readonly settlementQueue: () => number;
  readonly ledgerBacklog: () => number;
  readonly journalBytes: () => number;
  readonly admissionQueue: () => number;
  readonly responseCacheBytes: () => number;
  readonly storedResponsesBytes: () => number;
  /** What users store at providers. */
  readonly storedFiles: () => { readonly files: number; readonly bytes: number };
  readonly batchCounts: () => BatchCounts;
  /** The current mode of each part. */
  readonly listDegradations: () => readonly DegradationStatus[];
  readonly isDraining: () => boolean;
  readonly isLeader: () => boolean;
}

/** Model names that are not configured count as `other`: clients choose them, so their number is unlimited. */
export interface Metrics extends BatchMetrics {
  relayed(request: {
    operation: string;
    model: string;
    group: string;
    stream: boolean;
    outcome: string;
    seconds: number;
    /** The trace of the request, if it is sampled. */
    traceId?: string | undefined;
  }): void;
  firstToken(request: { operation: string; model: string; seconds: number; traceId?: string | undefined }): void;
  charged(charge: { model: string; group: string; quota: number; input: number; output: number }): void;
  attempted(attempt: { channel: ChannelLabels; outcome: string; seconds: number }): void;
  /** Counts an upstream answer with implausibly high usage. */
  usageBounded(channel: ChannelLabels): void;
  /** Counts a refusal of a claim of `kind` by a limit of `scope`. */
  limited(scope: string, kind: string): void;
  /** Counts a request that continued with another model. */
  fellBack(hop: { from: string; to: string; reason: string }): void;
  /** Records that a request left the queue of a channel. */
  queued(channelId: number, seconds: number): void;
  /** Counts a limit for which Redis did not answer. */
  limitOutage(rule: string): void;
  heldWithoutRedis(mode: "deny" | "sql"): void;
  /** Counts a budget for which the database did not answer. */
  budgetNotAsked(meaning: "refused" | "passed"): void;
  ledgerAudited(differences: number): void;
  /** Records a change that this replica detected; other replicas count their own. */
  breakerChanged(channelId: number, isOpen: boolean): void;
  /** `route` is a path pattern, never a path. */
  answered(answer: { route: string; method: string; code: number; seconds: number }): void;
  settlementFailed(isFinal: boolean): void;
  filterLearned(host: string): void;
  /** A request was sent with marks for the vendor's prompt cache, or an upstream refused them. */
  cacheMarks(provider: string, result: "sent" | "refused"): void;
  logRowRefused(): void;
  /** The database lost transactions that it had committed. */
  databaseWentBack(lost: { readonly rebooked: number; readonly lostChanges: number }): void;
  /** Charges of a journal were booked that neither Redis nor the database had. */
  chargesRecovered(count: number): void;
  /** A call of a directory was answered. */
  scimAnswered(op: string, result: string): void;
  errorRowsLost(rows: number): void;
  /** `seconds` is 0 if the destination has all rows, and undefined if another replica leads. */
  logExportLag(destination: string, seconds: number | undefined): void;
  logRowsExported(destination: string, result: "sent" | "rejected", rows: number): void;
  logExportFailed(destination: string, reason: string): void;
  /** Counts an event that was given to endpoints. */
  eventsFannedOut(type: string): void;
  webhookDelivered(format: string, result: "sent" | "failed"): void;
  webhookBacklog(seconds: number): void;
  dependency(check: { name: string; isUp: boolean; seconds: number }): void;
  cacheAsked(cache: string, isHit: boolean): void;
  /**
   * Counts a request of a conversation that `rule` recognised; a hit went to the channel that last served the
   * conversation.
   */
  affinityAsked(rule: string, isHit: boolean): void;
  cacheFailed(cache: string): void;
  /** Counts the bytes of a file that a provider took. */
  spoolRefused(): void;
  uploaded(upload: { dialect: string; way: "stream" | "spool"; bytes: number }): void;
  judged(verdict: { phase: string; verdict: string; seconds: number }): void;
  leaderChanged(): void;
  drainAborted(streams: number): void;
  resourceSynced(resource: { kind: string; namespace: string; name: string; isSynced: boolean }): void;
  resourceGone(resource: { kind: string; namespace: string; name: string }): void;
  jobSucceeded(job: string, atSeconds: number): void;
  /** Replaces the states of all channels; the list is empty if another replica leads. */
  setChannels(channels: readonly ChannelState[]): void;
  /** Sets the names that are allowed in labels. */
  setModels(models: ReadonlySet<string>): void;
  watch(gauges: Partial<Gauges>): void;
  /** Returns the text for Prometheus and its content type. OpenMetrics includes the exemplars. */
  expose(format?: "plain" | "open"): Promise<Exposition>;
  /** Returns the same as data, for `mergeMetrics`. */
  collect(): Promise<readonly CollectedMetric[]>;
}

export interface MetricsSettings {
  readonly version: string;
  readonly commit?: string;
  readonly clock?: Clock;
}

type Labels = Readonly<Record<string, string>>;

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
  storedResponsesBytes: () => 0,
  storedFiles: () => ({ files: 0, bytes: 0 }),
  batchCounts: () => NO_BATCHES,
  listDegradations: () => [],
  isDraining: () => false,
  isLeader: () => false,
};

function begin(registry: Registry, build: Readonly<Record<string, string>>): Objects {
  collectDefaultMetrics({ register: registry });
  const of = createObjects(registry);
  of.build.set(build, 1);
  of.workers.set(1);
  // Creates both series at 0, because a series that begins with its first failure shows no increase.
  for (const final of ["true", "false"]) of.settlementFailures.inc({ final }, 0);
  return of;
}

export function createMetrics({ version, commit = "", clock = systemClock }: MetricsSettings): Metrics {
  const registry = new Registry();
  const of = begin(registry, { version, node: process.version, commit });
  let models: ReadonlySet<string> = new Set();
  let gauges = NOTHING;
  const resolveModelLabel = (model: string) => (models.has(model) ? model : OTHER);
  const exemplars = new Exemplars();
  const tallies = createTallies(of);

  return {
    ...relayMetrics(of, tallies, resolveModelLabel, { exemplars, clock }),
    charged({ model, group, quota, input, output }) {
      const name = resolveModelLabel(model);
      tallies.quota.at(name).at(group).add(quota);
      tallies.tokens.at(name).at("input").add(input);
      tallies.tokens.at(name).at("output").add(output);
    },
    attempted({ channel, outcome, seconds }) {
      tallies.attempts.at(channel.id).at(channel.name).at(channel.type).at(outcome).add(1);
      of.upstreamSeconds.observe({ channel_id: channel.id, channel_type: channel.type }, seconds);
    },
    usageBounded: (channel) => of.usageBounded.inc(channelLabels(channel)),
    fellBack: ({ from, to, reason }) =>
      of.fallbacks.inc({ from: resolveModelLabel(from), to: resolveModelLabel(to), reason }),
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
    ...lossMetrics(of),
    scimAnswered: (op, result) => of.scimRequests.inc({ op, result }),
    errorRowsLost: (rows) => of.errorRowsLost.inc(rows),
    ...editMetrics(of),
    settlementFailed: (isFinal) => of.settlementFailures.inc({ final: String(isFinal) }),
    dependency({ name, isUp, seconds }) {
      of.dependencyUp.set({ dependency: name }, Number(isUp));
      of.dependencySeconds.observe({ dependency: name }, seconds);
    },
    ...exportMetrics(of),
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
    ...readers(registry, exemplars, () => {
      for (const tally of Object.values(tallies)) tally.flush();
      readGauges(of, gauges);
    }),
  };
}

interface Sampling {
  readonly exemplars: Exemplars;
  readonly clock: Clock;
}

type Tallied = "relayRequests" | "quota" | "tokens" | "attempts";

/** Creates the tallies of the counters that every call counts in. */
function createTallies(of: Objects): Readonly<Record<Tallied, CounterTally>> {
  const tally = (name: Tallied) => new CounterTally(of[name], DEFINITIONS[name].labels);
  return {
    relayRequests: tally("relayRequests"),
    quota: tally("quota"),
    tokens: tally("tokens"),
    attempts: tally("attempts"),
  };
}

/** Metrics of request durations, with the traces of sampled requests. */
function relayMetrics(
  of: Objects,
  tallies: Pick<ReturnType<typeof createTallies>, "relayRequests">,
  resolveModelLabel: (model: string) => string,
  { exemplars, clock }: Sampling,
): Pick<Metrics, "relayed" | "firstToken"> {
  const note = (key: "relaySeconds" | "firstTokenSeconds", labels: Labels, seen: Omit<Exemplar, "at">) => {
    const { name, buckets } = DEFINITIONS[key];
    exemplars.note(name, { labels, bounds: buckets }, { ...seen, at: clock.now() / 1000 });
  };
  return {
    relayed({ operation, model, group, stream, outcome, seconds, traceId }) {
      const [endpoint, name] = [operation, resolveModelLabel(model)];
      tallies.relayRequests.at(endpoint).at(name).at(group).at(outcome).add(1);
      const labels = { endpoint, model: name, stream: String(stream) };
      of.relaySeconds.observe(labels, seconds);
      if (traceId !== undefined) note("relaySeconds", labels, { traceId, value: seconds });
    },
    firstToken({ operation, model, seconds, traceId }) {
      const labels = { endpoint: operation, model: resolveModelLabel(model), stream: "true" };
      of.firstTokenSeconds.observe(labels, seconds);
      if (traceId !== undefined) note("firstTokenSeconds", labels, { traceId, value: seconds });
    },
  };
}

function readers(registry: Registry, exemplars: Exemplars, refresh: () => void): Pick<Metrics, "expose" | "collect"> {
  // The library declares the type of a metric as a number, but it is a word.
  const collected = async () => (await registry.getMetricsAsJSON()) as unknown as CollectedMetric[];
  return {
    async expose(format = "plain") {
      refresh();
      if (format === "open") return openMetrics(await collected(), exemplars);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    async collect() {
      refresh();
      return collected();
    },
  };
}

/** Metrics of what the gateway adds to requests, or leaves out of them. */
function editMetrics(of: Objects): Pick<Metrics, "filterLearned" | "cacheMarks"> {
  return {
    filterLearned: (host) => of.filtersLearned.inc({ host }),
    cacheMarks: (provider, result) => of.cacheMarks.inc({ provider, result }),
  };
}

/** Metrics of what leaves the gateway besides calls: log rows and events. */
function exportMetrics(
  of: Objects,
): Pick<
  Metrics,
  "logExportLag" | "logRowsExported" | "logExportFailed" | "eventsFannedOut" | "webhookDelivered" | "webhookBacklog"
> {
  return {
    eventsFannedOut: (type) => of.events.inc({ type }),
    webhookDelivered: (format, result) => of.webhookDeliveries.inc({ format, result }),
    webhookBacklog: (seconds) => of.webhookBacklog.set(seconds),
    logExportLag(destination, seconds) {
      if (seconds === undefined) of.logExportLag.remove({ destination });
      else of.logExportLag.set({ destination }, seconds);
    },
    logRowsExported: (destination, result, rows) => of.logExportRows.inc({ destination, result }, rows),
    logExportFailed: (destination, reason) => of.logExportFailures.inc({ destination, reason }),
  };
}

/** Metrics of caches, affinity, guardrail verdicts and uploads. */
function lossMetrics(
  of: Objects,
): Pick<Metrics, "databaseWentBack" | "chargesRecovered" | "logRowRefused" | keyof BatchMetrics> {
  return {
    ...batchMetrics(of),
    logRowRefused: () => of.logRowsRefused.inc(),
    databaseWentBack({ rebooked, lostChanges }) {
      of.databaseWentBack.inc();
      of.chargesRecovered.inc(rebooked);
      of.changesLost.inc(lostChanges);
    },
    chargesRecovered: (count) => of.chargesRecovered.inc(count),
  };
}

function memoryMetrics(
  of: Objects,
): Pick<Metrics, "cacheAsked" | "cacheFailed" | "affinityAsked" | "judged" | "uploaded" | "spoolRefused"> {
  return {
    judged({ phase, verdict, seconds }) {
      of.guardrailVerdicts.inc({ phase, verdict });
      of.guardrailSeconds.observe({ phase }, seconds);
    },
    cacheAsked: (cache, isHit) => (isHit ? of.cacheHits : of.cacheMisses).inc({ cache }),
    spoolRefused: () => of.spoolRefusals.inc(),
    uploaded: ({ dialect, way, bytes }) => of.uploadBytes.inc({ dialect, way }, bytes),
    cacheFailed: (cache) => of.cacheFailures.inc({ cache }),
    affinityAsked: (rule, isHit) => of.affinityRequests.inc({ rule, result: isHit ? "hit" : "miss" }),
  };
}

function readGauges(of: Objects, gauges: Gauges): void {
  of.degraded.reset();
  for (const { part, mode, isNormal } of gauges.listDegradations()) of.degraded.set({ part, mode }, Number(!isNormal));
  of.inflightRequests.set(gauges.inflightRequests());
  of.inflightStreams.set(gauges.inflightStreams());
  of.inflightLimit.set(gauges.inflightLimit());
  of.settlementQueue.set(gauges.settlementQueue());
  of.ledgerBacklog.set(gauges.ledgerBacklog());
  of.journalBytes.set(gauges.journalBytes());
  of.queueLength.set(gauges.admissionQueue());
  of.responseCacheBytes.set(gauges.responseCacheBytes());
  of.storedResponsesBytes.set(gauges.storedResponsesBytes());
  const { files, bytes } = gauges.storedFiles();
  of.storedFiles.set(files);
  of.storedFileBytes.set(bytes);
  setBatchGauges(of, gauges.batchCounts());
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
