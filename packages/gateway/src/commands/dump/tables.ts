import { CACHE_SUMS_GAP, CACHE_SUMS_MARK } from "../../resources/statistics/cache-sums/gather.ts";
import { FACET_MARK, LATER_SUMS_GAP } from "../../resources/statistics/facet-sums.ts";
import { LOG_SUMS_GAP, LOG_SUMS_MARK } from "../../resources/statistics/log-sums.ts";
import { REPORT_SUMS_GAP, REPORT_SUMS_MARK } from "../../resources/statistics/report-sums/gather.ts";
import { STATISTICS_MARK } from "../../resources/statistics/rollup.ts";
import { STATISTICS_UNTIL } from "../../resources/statistics/store.ts";
import { ROLLUP_GAP, ROLLUP_MARK } from "../../resources/usage-data/rollup.ts";
import { EXPORT_MARKS } from "../../resources/log-export/cursor.ts";
import { FAN_OUT_MARK } from "../../webhooks/fan-out.ts";
import type { Schema } from "../../storage/tables/schema.ts";

/** Every table with the columns that order its rows, except tables that only concern running processes. */
export const TABLES = {
  users: ["id"],
  teams: ["id"],
  team_members: ["team_id", "user_id"],
  team_invitations: ["id"],
  service_accounts: ["id"],
  service_tokens: ["id"],
  tokens: ["id"],
  token_keys: ["id"],
  channels: ["id"],
  channel_pauses: ["id"],
  price_plans: ["id"],
  saved_reports: ["id"],
  abilities: ["channel_id", "group", "model"],
  options: ["key"],
  option_history: ["id"],
  redemptions: ["id"],
  top_ups: ["id"],
  quota_data: ["id"],
  usage_statistics: ["span", "dimension", "owner_id", "subject", "start"],
  cache_sums: ["user_id", "token_id", "channel_id", "model", "start"],
  facet_sums: ["user_id", "span", "start", "type", "username"],
  log_sums: ["by_model", "model_name", "span", "start", "type"],
  report_sums: ["cube", "tag_key", "span", "owner_id", "start", "value", "model"],
  report_values: ["cube", "tag_key", "owner_id", "start"],
  midjourneys: ["id"],
  tasks: ["id"],
  response_owners: ["response_id", "user_id"],
  upstream_objects: ["id", "user_id"],
  object_usage: ["user_id"],
  upstream_caches: ["id"],
  cache_deposits: ["request_id"],
  batches: ["user_id", "id"],
  batch_ids: ["batch_id"],
  events: ["id"],
  webhook_endpoints: ["id"],
  webhook_deliveries: ["id"],
  identity_providers: ["id"],
  user_identities: ["id"],
  scim_users: ["id"],
  scim_groups: ["id"],
  scim_members: ["group_id", "member_id"],
  setups: ["id"],
  sessions: ["id_hash"],
  one_time_codes: ["purpose", "subject"],
  access_tokens: ["id"],
  passkeys: ["id"],
  ledger: ["id"],
  opening_counters: ["counter", "id"],
  holds: ["request_id"],
  log_outbox: ["id"],
  balance_outbox: ["id"],
  ledger_state: ["name"],
  budgets: ["id"],
  budget_holds: ["request_id", "budget_id"],
  budget_reaped: ["request_id", "budget_id"],
  managed_resources: ["kind", "name"],
  jobs: ["id"],
  import_runs: ["id"],
  audit_log: ["id"],
  preferences: ["user_id"],
  logs: ["id"],
} as const satisfies Partial<Record<keyof Schema, readonly string[]>>;

/** Tables that only concern running processes, or that count the changes of one database. */
export const LEFT_BEHIND: readonly (keyof Schema)[] = [
  "leases",
  "replicas",
  "revisions",
  "balance_shares",
  "balance_keepers",
];

export type DumpedTable = keyof typeof TABLES;

export const TABLE_NAMES = Object.keys(TABLES) as readonly DumpedTable[];

/** The format of an export; an import accepts only formats that it knows. */
export const FORMAT = "fairway-export-1";

/**
 * Rows of `revisions` that mark which log rows the sums contain and which were exported; they are exported with the
 * rows.
 */
export const MARKS: readonly string[] = [
  ROLLUP_MARK,
  ROLLUP_GAP,
  STATISTICS_MARK,
  STATISTICS_UNTIL,
  FACET_MARK,
  LATER_SUMS_GAP,
  LOG_SUMS_MARK,
  LOG_SUMS_GAP,
  REPORT_SUMS_MARK,
  REPORT_SUMS_GAP,
  CACHE_SUMS_MARK,
  CACHE_SUMS_GAP,
  ...EXPORT_MARKS,
  FAN_OUT_MARK,
];

export interface Manifest {
  readonly format: string;
  /** Epoch seconds. */
  readonly created_at: number;
  /** Absent in older files. */
  readonly marks?: Readonly<Record<string, number>>;
  readonly tables: Readonly<Partial<Record<DumpedTable, number>>>;
}

export function buildFileName(table: DumpedTable): string {
  return `${table}.ndjson`;
}
