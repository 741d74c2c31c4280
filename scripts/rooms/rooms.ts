// The order of the parts inside each room, lowest first. A part imports only parts before it, so that parts form no
// cycle. `npm run check` compares the order with the imports.
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { listImports, listProductFiles, type Import } from "./imports.ts";

function inOrder(parts: string): string[] {
  return parts.trim().split(/\s+/);
}

/** A room -> its parts, lowest first. A part is a folder, or a file without its extension. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "packages/gateway/src/dialects": [
    "core",
    "openai-chat",
    "client-ids",
    "anthropic-messages",
    "openai-responses",
    "gemini-generate",
    "endpoints",
    "bridges",
    "find-bridges",
    "members",
    "index",
  ],
  "packages/gateway/src/providers": ["core", "vendors", "index", "registry"],
  "packages/gateway/src/relay": inOrder(`
    body request tags ttl-store prompt-cache upstream selection stateful tenancy conversion admission response trace reservation policies
    fallback pipeline ingress realtime
  `),
  "packages/gateway/src/events": inOrder(`
    credential-changes catalogue record-event token-event
  `),
  "packages/gateway/src/billing": inOrder(`
    money tokenizer pricing reservations budgets ledger audit
  `),
  "packages/gateway/src/billing/budgets": inOrder(`
    time-zones anchor window budget thresholds budget-events filter values templates open-value lookup refusals sql redis budgets
  `),
  "packages/gateway/src/billing/ledger": inOrder(`
    ledger charge moved-rows log-batches log-outbox log-row-recovery booking journal lost-commits sql redis
  `),
  "packages/gateway/src/billing/ledger/booking": inOrder(`
    accounts booking balance-events change booked-requests balance-outbox balance-changes charge-booking reaped-charge charge-close
    opening-counter deposits direct-settlement
  `),
  "packages/gateway/src/billing/ledger/lost-commits": inOrder(`
    identity commit-samples history commit-watch watched-ledger
  `),
  "packages/gateway/src/billing/ledger/sql": inOrder(`
    holds reaper renewal settlements sql-ledger
  `),
  "packages/gateway/src/billing/ledger/redis": inOrder(`
    scripts calls claimed open-holds token-limits account-loader release reaper recovery
    reservations balance-sync ledger-settings own-journal outage-check settler pruning sender renewer shares settlement-writer live-deposits
    redis-ledger live-accounts
  `),
  "packages/gateway/src/billing/ledger/redis/shares": inOrder(`
    share-rows keepers answers adoption keeper borrower shares
  `),
  "packages/gateway/src/billing/audit": inOrder(`
    difference counters logging-periods log-rows sums balances deposits scripts audit
  `),
  "packages/gateway/src/storage": inOrder(`
    errors retry-transient like tables engines database statements transaction sorted-page keyed-rows row-names inserts
    log-rows newest-log clickhouse log-database log-reads log-removal leases revisions rehearsal secrets schema partitions foreign dumps
  `),
  "packages/gateway/src/identity": inOrder(`
    principal sessions keys mail passwords second-factor openid providers scim accounts authentication oauth
  `),
  "packages/gateway/src/resources": inOrder(`
    ports event-stream limits-field relying-party openapi usage-data statistics options redemptions jobs drawing files caches batches budgets
    models async-tasks events webhooks users status search pricing auth scim identity-providers account-routes groups audit wallet stripe channels pauses import logs price-plans reports
    tokens leaks teams service-accounts declarative system operations log-export
  `),
  "packages/gateway/src/tasks": inOrder(`
    upstream segment types switch-off task-ids channels candidates money own-ids record-end finish store midjourney suno video
    trace handler
  `),
  "packages/gateway/src/teams": inOrder(`
    rights wallet wallet-names team members invitations service-accounts teams convert
  `),
  "packages/gateway/src/objects": inOrder(`
    ids stored-object usage store account count-by-key upstream late-deletion library spool-room read-chunks received-form file-content quota
    choose-account object-call arriving-object small-json while-running shapes adopt-minted send-upload upload-form related-upload sessions upload-parts uploads stored-files find-files sweep
    handler
  `),
  "packages/gateway/src/webhooks": inOrder(`
    types owners backoff quiet endpoint-row texts match formats fan-out sending tidy
  `),
  "packages/gateway/src/kubernetes": inOrder(`
    client conditions resources secret-access refusals silence quiet gateway-side token-owners decide verdicts work-queue deletion-guard
    events gateway-claims store in-parallel secrets token-secrets serving named-groups publisher lease deletions reconciler controller
  `),
  "packages/testkit/src": inOrder(`
    messages-answer oidc-server sql services gateway api helm pod-server bucket upstream sdk-parts log-collector vitest-own-modules
    property-runs smtp proxy http-proxy explained-calls page-commands vitest-setup index databases vitest-cleanup
  `),
  "packages/gateway/src/limits": inOrder(`
    claims claims-redis claims-memory tag-limits request-limits limiter limiter-memory limiter-redis body-memory rules
  `),
  "packages/gateway/src/jobs": inOrder(`
    leader schedule log-partitions log-retention channel-jobs ledger-audit lasting-state redis-watch backlog-watch leader-watch
    version-check
  `),
  "packages/gateway/src/http": inOrder(`
    context endpoint body other-paths errors route-table etag message-shapes input guards broken-requests security
    envelope build-page static connections open-calls mount server
  `),
  "packages/gateway/src/snapshot": inOrder(`
    scope-matcher model-mapping mapped-names option-defaults planned-prices guardrail-policy tag-policy cache-policy fallback-policy balancing-policy key-states key-marks
    scope-matcher model-mapping mapped-names option-defaults planned-prices guardrail-policy tag-policy tag-limits cache-policy fallback-policy balancing-policy key-states
    channel-record types team-record tokens listed-models snapshot load refresh
  `),
  "packages/gateway/src/config": inOrder(`
    go-dsn aliases parsers encryption-keys variable first-start-variables kubernetes-variables limit-variables
    log-export-variables network-variables trace-variables process-variables store-variables variables
    url-password env
  `),
  "packages/gateway/src/observability": inOrder(`
    exposition exemplars merge-metrics loop-delay log reason open-metrics degradation-status tracing
    metric-definitions metric-objects counter-tally batch-metrics metrics health
  `),
  "packages/gateway/src/redis": inOrder(`
    read-lua script merge-calls connector wait-budget keys redis-unavailable sentinels connection turn-pipeline types cluster
    client pubsub check-commands check-nodes check
  `),
  "packages/gateway/src/composition": inOrder(`
    outage storage network tracing relay redis commits core tasks caches containers objects batches webhooks management kubernetes demo leader replica listeners log-export
    schedule lifecycle console edge app
  `),
  "packages/gateway/src/commands": inOrder(`
    arguments context progress schema dump import export ledger logs-copy logs index
  `),
  "packages/wire/src": inOrder(`
    access core accounts options channels billing operations teams index
  `),
  "packages/wire/src/core": inOrder(`
    reasons by-model fallbacks strategies characters stored team-slug tags tag-policy constants decimals budget-terms tag-limits
    envelope paging lists message-codes stored-messages team-messages messages nearest limits format endpoint search client openapi
  `),
  "packages/console/src": inOrder(`
    lib theme session ui shared features routes main
  `),
  "packages/console/src/ui": inOrder(`
    locale texts display feedback late content form menu grid views list hosts bulk chart peek
  `),
  "packages/cli/src": inOrder(`
    core print terminal session commands program run main entry
  `),
  "packages/cli/src/core": inOrder(`
    exit tag-limits problem version json variables times amounts standard-input arguments io
  `),
  "packages/cli/src/session": inOrder(`
    contexts keychain config chosen-team request compatible lost folders redacted transport named-problem session relay globals defaults
    command-context link
  `),
  "packages/cli/src/commands": inOrder(`
    questions usernames model-rows paging names each schema event documents log option kube import account channel
    service-account token budget catalogue redemption user init program chat file cache report idp team batch ui top status api completion
  `),
  "packages/testkit": inOrder(`
    src agents grid features chaos load cluster identity-server
  `),
};

export interface Fault {
  readonly room: string;
  readonly message: string;
}

/** Returns the part that contains the file: the first folder of its path, or the file itself. */
export function readPart(path: string): string {
  const [first = path, ...rest] = path.split("/");
  return rest.length > 0 ? first : first.replace(/\.tsx?$/, "");
}

/** Returns imports that point from a part to a later one. Parts without a place are left out. */
export function findArrowsUp(parts: readonly string[], imports: readonly Import[]): Import[] {
  const heights = new Map(parts.map((part, index) => [part, index]));
  return imports.filter(({ from, to }) => {
    const [source, target] = [heights.get(readPart(from)), heights.get(readPart(to))];
    return source !== undefined && target !== undefined && source < target;
  });
}

/** Returns upward imports, parts that the table does not list, and listed parts that do not exist. */
export function findFaults(room: string, parts: readonly string[]): Fault[] {
  const folder = join(ROOT, room);
  const found = new Set(listProductFiles(folder).map(readPart));
  const messages = [
    ...[...found]
      .filter((part) => !parts.includes(part))
      .map((part) => `${part} has no place in scripts/rooms/rooms.ts`),
    ...parts
      .filter((part) => !found.has(part))
      .map((part) => `scripts/rooms/rooms.ts names ${part}, which does not exist`),
    ...findArrowsUp(parts, listImports(folder)).map(({ from, to }) => `${from} imports ${to}, which lies above it`),
  ];
  return messages.map((message) => ({ room, message }));
}

if (import.meta.main) {
  const faults = Object.entries(ROOMS).flatMap(([room, parts]) => findFaults(room, parts));
  for (const { room, message } of faults) console.error(`${room}: ${message}`);
  if (faults.length > 0) process.exitCode = 1;
}
