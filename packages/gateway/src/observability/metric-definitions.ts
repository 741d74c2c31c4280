import type { Aggregator } from "prom-client";

export interface MetricDefinition {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in seconds. */
  readonly buckets?: readonly number[];
  /** How the values of several workers are merged; undefined = summed. */
  readonly aggregator?: Aggregator;
}

export const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LONG = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600];
const FIRST_TOKEN = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60];
export const CHANNEL = ["channel_id", "channel_name", "channel_type"] as const;

/** Every metric of the gateway; dashboards and alerts know these names. */
export const DEFINITIONS = {
  build: createAggregatedGauge("first", "build_info", "Always 1; which program this is.", "version", "node", "commit"),
  workers: gauge("workers", "Worker processes behind this listener."),
  httpRequests: counter(
    "http_requests_total",
    "Calls of the management API that were answered.",
    "route",
    "method",
    "code",
  ),
  scimRequests: counter(
    "scim_requests_total",
    "Calls of the directories of companies, by method and resource. `failed` are faults of the gateway.",
    "op",
    "result",
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
  fallbacks: counter("fallbacks_total", "Requests that continued with another model.", "from", "to", "reason"),
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
  channelStatus: createAggregatedGauge(
    "max",
    "channel_status",
    "1 enabled, 2 disabled by hand, 3 disabled by the system; of the leader.",
    ...CHANNEL,
  ),
  channelResponse: createAggregatedGauge(
    "max",
    "channel_response_ms",
    "Time of the last test; of the leader.",
    ...CHANNEL,
  ),
  channelBalance: createAggregatedGauge(
    "max",
    "channel_balance_usd",
    "Balance at the upstream; of the leader.",
    ...CHANNEL,
  ),
  channelBalanceAt: createAggregatedGauge(
    "max",
    "channel_balance_timestamp_seconds",
    "When the balance was read; of the leader.",
    ...CHANNEL,
  ),
  settlementQueue: gauge("settlement_queue_depth", "Charges that are not in the database yet."),
  ledgerBacklog: createAggregatedGauge(
    "max",
    "ledger_backlog",
    "Charges in Redis that are not booked in the database yet, of all processes.",
  ),
  ledgerDrift: createAggregatedGauge(
    "max",
    "ledger_drift_accounts",
    "Differences that the last audit found between Redis and the database.",
  ),
  ledgerOutages: counter("ledger_outage_requests_total", "New requests that met a Redis that was away.", "mode"),
  budgetOutages: counter(
    "budget_outages_total",
    "Budgets that could not be asked: the request was refused, or passed unreserved and is charged at its end.",
    "meaning",
  ),
  journalBytes: gauge("journal_bytes", "Charges that this process keeps on its disk."),
  settlementFailures: counter(
    "settlement_failures_total",
    "Charges that could not be written; retried unless final. Final also when the reservation was charged because the charge could not be computed.",
    "final",
  ),
  cacheMarks: counter(
    "cache_marks_total",
    "Requests that were sent with marks of the gateway for a prompt cache, and those that an upstream refused for them.",
    "provider",
    "result",
  ),
  filtersLearned: counter(
    "filter_learned_total",
    "Requests that a host of the Messages protocol refused for a beta, a member or a tool that no list holds; they were sent again without it.",
    "host",
  ),
  databaseWentBack: counter(
    "database_went_back_total",
    "How often this process found that the database had lost transactions that it had committed.",
  ),
  chargesRecovered: counter(
    "charges_recovered_total",
    "Charges that were booked again from a journal, because neither Redis nor the database had them.",
  ),
  changesLost: counter(
    "balance_changes_lost_total",
    "Movements of balances other than charges that a database lost when it went back; the process log names each.",
  ),
  logRowsRefused: counter(
    "log_rows_refused_total",
    "Log rows that the database refused for what they hold; their charges are booked.",
  ),
  errorRowsLost: counter(
    "error_rows_lost_total",
    "Failed calls without a log row: the database was away for too long, or too many tokens failed in one minute.",
  ),
  logExportLag: createAggregatedGauge(
    "max",
    "log_export_lag_seconds",
    "Age of the oldest log row that a destination of the export does not have; of the leader.",
    "destination",
  ),
  logExportRows: counter(
    "log_export_rows_total",
    "Log rows that a destination has confirmed (sent) or refused for good (rejected).",
    "destination",
    "result",
  ),
  logExportFailures: counter(
    "log_export_failures_total",
    "Batches of log rows that a destination did not confirm; they are sent again.",
    "destination",
    "reason",
  ),
  events: counter("events_total", "Events that were given to endpoints; of the leader.", "type"),
  webhookDeliveries: counter(
    "webhook_deliveries_total",
    "Messages about events by how the attempt ended.",
    "format",
    "result",
  ),
  webhookBacklog: createAggregatedGauge(
    "max",
    "webhook_backlog_seconds",
    "How long the oldest due message has waited for an endpoint that is not failing; of the leader.",
  ),
  dependencyUp: createAggregatedGauge("min", "dependency_up", "1 when the last check succeeded.", "dependency"),
  dependencySeconds: histogram("dependency_latency_seconds", "Time of checks.", SHORT, "dependency"),
  degraded: createAggregatedGauge(
    "max",
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
  responseCacheBytes: gauge(
    "response_cache_bytes",
    "Answers that this process caches in memory for identical requests.",
  ),
  storedResponsesBytes: gauge(
    "kept_responses_bytes",
    "Responses that this process stores in memory for follow-up requests.",
  ),
  storedFiles: createAggregatedGauge("max", "stored_files", "Files that users store at providers, of the last sweep."),
  storedFileBytes: createAggregatedGauge("max", "stored_bytes", "Bytes of those files."),
  spoolRefusals: counter(
    "spool_refusals_total",
    "Uploads and forms that this process refused with 503 because FAIRWAY_SPOOL_MEGABYTES was used up.",
  ),
  uploadBytes: counter(
    "upload_bytes_total",
    "Bytes of files that were passed on to providers, by protocol of the client and by whether they were spooled first.",
    "dialect",
    "way",
  ),
  batches: createAggregatedGauge(
    "max",
    "batches",
    "Batches that are not settled, by phase, as the leader counted them within the last minute.",
    "provider",
    "phase",
  ),
  batchItems: counter(
    "batch_items_total",
    "Requests of settled batches by how they ended; `unreadable` and `missing` have no result that counts.",
    "provider",
    "result",
  ),
  batchSettleSeconds: histogram(
    "batch_settle_seconds",
    "Time from the end of a batch to its settlement.",
    [1, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400, 259_200],
  ),
  batchOldest: createAggregatedGauge(
    "max",
    "batch_oldest_unsettled_seconds",
    "How long the oldest batch that has ended waits for its settlement.",
  ),
  batchOverDeposit: counter("batch_over_deposit_total", "Batches that cost more than their deposit."),
  batchKeysRefused: createAggregatedGauge(
    "max",
    "batch_key_refused",
    "Open batches whose provider refuses the key that created them.",
  ),
  depositQuota: createAggregatedGauge(
    "max",
    "deposit_quota",
    "Deposits of batches that are not settled, in quota units.",
  ),
  guardrailVerdicts: counter(
    "guardrail_verdicts_total",
    "Texts that the guardrail judged: allow, block, or failed when no verdict came.",
    "phase",
    "verdict",
  ),
  guardrailSeconds: histogram("guardrail_duration_seconds", "Time of calls of the guardrail.", SHORT, "phase"),
  leader: createAggregatedGauge("max", "leader", "1 on the replica that does the work which only one may do."),
  leaderTransitions: counter(
    "leader_transitions_total",
    "Times that this replica became the leader or ceased to be it.",
  ),
  draining: createAggregatedGauge("max", "draining", "1 while the process is stopping."),
  drainAborted: counter("drain_streams_aborted_total", "Streams that a stop cut off."),
  gitopsSynced: createAggregatedGauge(
    "max",
    "gitops_resource_synced",
    "1 when the resource is as declared.",
    "kind",
    "namespace",
    "name",
  ),
  jobSuccess: createAggregatedGauge("max", "job_last_success_timestamp_seconds", "When the job last succeeded.", "job"),
} as const satisfies Record<string, MetricDefinition>;

export const METRICS: readonly MetricDefinition[] = Object.values(DEFINITIONS);

function counter(name: string, help: string, ...labels: string[]) {
  return { name: `fairway_${name}`, type: "counter", help, labels } as const;
}

function gauge(name: string, help: string, ...labels: string[]) {
  return { name: `fairway_${name}`, type: "gauge", help, labels } as const;
}

/** Creates a gauge whose values of several workers are not summed. */
function createAggregatedGauge(aggregator: Aggregator, name: string, help: string, ...labels: string[]) {
  return { ...gauge(name, help, ...labels), aggregator };
}

function histogram(name: string, help: string, buckets: readonly number[], ...labels: string[]) {
  return { name: `fairway_${name}`, type: "histogram", help, labels, buckets } as const;
}
