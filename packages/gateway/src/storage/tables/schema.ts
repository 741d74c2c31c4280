import type { ChannelColumns, ChannelFieldName } from "@fairway/wire";
import type { Generated } from "kysely";
import type {
  AccessTokenTable,
  OneTimeCodeTable,
  PasskeyTable,
  PreferenceTable,
  SessionTable,
  TokenKeyTable,
  TokenTable,
  UserTable,
} from "./schema-accounts.ts";
import type { BatchIdTable, BatchTable } from "./schema-batches.ts";
import type { CacheDepositTable, UpstreamCacheTable } from "./schema-caches.ts";
import type { EventTable, WebhookDeliveryTable, WebhookEndpointTable } from "./schema-events.ts";
import type { TeamTables } from "./schema-teams.ts";
import type { IdentityProviderTable, UserIdentityTable } from "./schema-identity.ts";
import type { ReportSumTable, ReportValueTable, SavedReportTable } from "./schema-reports.ts";
import type { ImportRunTable } from "./schema-imports.ts";
import type { ChannelPauseTable } from "./schema-pauses.ts";
import type { PricePlanTable } from "./schema-prices.ts";
import type { ScimGroupTable, ScimMemberTable, ScimUserTable } from "./schema-scim.ts";
import type { ObjectUsageTable, UpstreamObjectTable } from "./schema-objects.ts";
import type { CacheSumTable, FacetSumsTable, LogSumsTable, UsageStatisticsTable } from "./schema-statistics.ts";
import type {
  BalanceKeeperTable,
  BalanceOutboxTable,
  BalanceShareTable,
  BudgetHoldTable,
  BudgetReapedTable,
  BudgetTable,
  HoldTable,
  LedgerStateTable,
  LedgerTable,
  OpeningCounterTable,
  LogOutboxTable,
} from "./schema-ledger.ts";

/**
 * Row types of every table. Times are epoch seconds unless a comment says otherwise, flags are 0 or 1, money is a
 * BIGINT of quota units, which is read as a safe integer. Column names match those of compatible gateways; `group`,
 * `key`, `type` are quoted by the query builder.
 */
export interface Schema extends TeamTables {
  users: UserTable;
  tokens: TokenTable;
  token_keys: TokenKeyTable;
  channels: ChannelTable;
  channel_pauses: ChannelPauseTable;
  price_plans: PricePlanTable;
  import_runs: ImportRunTable;
  saved_reports: SavedReportTable;
  abilities: AbilityTable;
  options: OptionTable;
  option_history: OptionHistoryTable;
  redemptions: RedemptionTable;
  top_ups: TopUpTable;
  quota_data: QuotaDataTable;
  usage_statistics: UsageStatisticsTable;
  cache_sums: CacheSumTable;
  facet_sums: FacetSumsTable;
  log_sums: LogSumsTable;
  report_sums: ReportSumTable;
  report_values: ReportValueTable;
  midjourneys: MidjourneyTable;
  tasks: TaskTable;
  response_owners: ResponseOwnerTable;
  upstream_objects: UpstreamObjectTable;
  object_usage: ObjectUsageTable;
  upstream_caches: UpstreamCacheTable;
  cache_deposits: CacheDepositTable;
  batches: BatchTable;
  batch_ids: BatchIdTable;
  events: EventTable;
  webhook_endpoints: WebhookEndpointTable;
  webhook_deliveries: WebhookDeliveryTable;
  setups: SetupTable;
  sessions: SessionTable;
  one_time_codes: OneTimeCodeTable;
  access_tokens: AccessTokenTable;
  passkeys: PasskeyTable;
  identity_providers: IdentityProviderTable;
  user_identities: UserIdentityTable;
  scim_users: ScimUserTable;
  scim_groups: ScimGroupTable;
  scim_members: ScimMemberTable;
  ledger: LedgerTable;
  opening_counters: OpeningCounterTable;
  holds: HoldTable;
  log_outbox: LogOutboxTable;
  balance_outbox: BalanceOutboxTable;
  balance_shares: BalanceShareTable;
  balance_keepers: BalanceKeeperTable;
  ledger_state: LedgerStateTable;
  budgets: BudgetTable;
  budget_holds: BudgetHoldTable;
  budget_reaped: BudgetReapedTable;
  revisions: RevisionTable;
  managed_resources: ManagedResourceTable;
  jobs: JobTable;
  leases: LeaseTable;
  replicas: ReplicaTable;
  audit_log: AuditLogTable;
  preferences: PreferenceTable;
  logs: LogTable;
}

/** The columns of the first release; those of later migrations have a default. */
type ColumnWithoutDefault =
  | "type"
  | "name"
  | "status"
  | "models"
  | "group"
  | "base_url"
  | "other"
  | "openai_organization"
  | "test_model"
  | "model_mapping"
  | "status_code_mapping"
  | "weight";

/** The columns of the fields that people set. Those with secrets are sealed if they have some. */
type ChannelFieldColumns = {
  [F in ChannelFieldName]: F extends ColumnWithoutDefault ? ChannelColumns[F] : Generated<ChannelColumns[F]>;
};

export interface ChannelTable extends ChannelFieldColumns {
  id: Generated<number>;
  /** Sealed; the text inside has one key per line. */
  key_sealed: string;
  /** HMAC of the whole key text, for the search by exact key. */
  key_hash: string;
  created_time: number;
  test_time: Generated<number>;
  /** Milliseconds; 0 = never tested. */
  response_time: Generated<number>;
  /** Null or "" = the last test passed, or there was none. */
  test_error: Generated<string | null>;
  /**
   * JSON: properties of the models from the upstream's list when it was last read; null = it was not read or had none.
   */
  listed_models: Generated<string | null>;
  /** US dollars, decimal. */
  balance: Generated<number>;
  balance_updated_time: Generated<number>;
  used_quota: Generated<number>;
  other_info: Generated<string>;
  /** JSON in the format of compatible gateways: states of the individual keys of a multi-key channel. */
  channel_info: Generated<string | null>;
  /** Incremented by every write, for `If-Match`. */
  version: Generated<number>;
}

export interface AbilityTable {
  group: string;
  model: string;
  channel_id: number;
  enabled: number;
  priority: number;
  weight: number;
  tag: string | null;
}

export interface OptionTable {
  key: string;
  /** Secret options are sealed. */
  value: string;
}

export interface OptionHistoryTable {
  id: Generated<number>;
  key: string;
  old_value: string | null;
  new_value: string | null;
  user_id: number;
  created_at: number;
}

export interface RedemptionTable {
  id: Generated<number>;
  user_id: number;
  key: string;
  status: number;
  name: string;
  quota: number;
  created_time: number;
  redeemed_time: Generated<number>;
  used_user_id: Generated<number>;
  deleted_at: number | null;
}

export interface TopUpTable {
  id: Generated<number>;
  user_id: number;
  amount: number;
  /** Decimal text with two places. */
  money: string;
  trade_no: string;
  create_time: number;
  status: string;
  quota: number;
  payment_method: string;
  gateway_trade_no: string | null;
  complete_time: Generated<number>;
}

export interface QuotaDataTable {
  id: Generated<number>;
  user_id: number;
  username: string;
  model_name: string;
  created_at: number;
  token_used: number;
  count: number;
  quota: number;
}

export interface MidjourneyTable {
  id: Generated<number>;
  code: number;
  user_id: number;
  action: string;
  mj_id: string;
  prompt: string;
  prompt_en: string;
  description: string;
  state: string;
  /** Milliseconds, like the next two. */
  submit_time: number;
  start_time: number;
  finish_time: number;
  image_url: string;
  status: string;
  progress: string;
  fail_reason: string;
  channel_id: number;
  quota: number;
  buttons: string;
  properties: string;
  created_at: number;
  token_id: Generated<number>;
  request_id: string;
  charged: Generated<number>;
  refunded: Generated<number>;
}

export interface TaskTable {
  id: Generated<number>;
  created_at: number;
  updated_at: number;
  task_id: string;
  platform: string;
  user_id: number;
  channel_id: number;
  quota: number;
  action: string;
  status: string;
  fail_reason: string;
  submit_time: number;
  start_time: number;
  finish_time: number;
  progress: string;
  /** JSON text, like the next. */
  properties: string;
  data: string;
  token_id: Generated<number>;
  request_id: string;
  charged: Generated<number>;
  refunded: Generated<number>;
}

/** The upstream account that stores a response. */
export interface ResponseOwnerTable {
  response_id: string;
  user_id: number;
  channel_id: number;
  key_index: number;
  /** Start of the hash of the key, because positions of keys change; "" in rows of earlier versions. */
  key_mark: Generated<string>;
  expires_at: number;
}

export interface SetupTable {
  id: Generated<number>;
  version: string;
  initialized_at: number;
}

export interface RevisionTable {
  topic: string;
  revision: number;
}

/** Rows that a declarative source (files, GitOps) owns; the console shows them read-only. */
export interface ManagedResourceTable {
  kind: string;
  name: string;
  resource_id: number;
  owner: string;
  /** Always blank, because a hash of a document would allow guessing the secrets in it. */
  spec_hash: string;
  updated_at: number;
  /** JSON list of the names that the source sets; null in rows from before this list existed. */
  fields: string | null;
}

export interface JobTable {
  id: Generated<number>;
  name: string;
  status: string;
  /** JSON text: done, total, message. */
  progress: string;
  started_by: number;
  created_at: number;
  updated_at: number;
  finished_at: Generated<number>;
}

export interface LeaseTable {
  name: string;
  holder: string;
  /** Fencing number, which increases with each change of holder. */
  term: number;
  /** Milliseconds. */
  expires_at: number;
}

/** Processes that share the database; each reports itself. */
export interface ReplicaTable {
  instance: string;
  version: string;
  /** Seconds, like `seen_at`. */
  started_at: number;
  seen_at: number;
  is_leader: number;
  /** Running requests at the time of the report. */
  running: number;
  /** The revision of channels and options that it uses. */
  revision: Generated<number>;
  /** JSON: running requests at the time of the report by channel id; null from a version that does not report them. */
  channels: string | null;
}

export interface AuditLogTable {
  id: Generated<number>;
  user_id: number;
  username: string;
  action: string;
  target: string;
  old_value: string | null;
  new_value: string | null;
  ip: string;
  created_at: number;
}

/** May be in its own database (`FAIRWAY_LOG_DATABASE_URL`). */
export interface LogTable {
  id: Generated<number>;
  user_id: number;
  created_at: number;
  type: number;
  content: string;
  username: string;
  token_name: string;
  model_name: string;
  quota: number;
  prompt_tokens: number;
  completion_tokens: number;
  use_time: number;
  is_stream: number;
  channel_id: number;
  token_id: number;
  group: string;
  ip: string;
  request_id: string;
  other: string;
  /** Who used the key of a team: `u17` a member, `s3` a service account; "" for keys of persons. */
  actor: Generated<string>;
  /** `kind` of the account. */
  account_kind: Generated<number>;
  /** `app=shop|env=prod`, sorted by key; "" = none. */
  tags: Generated<string>;
  /** "" = unknown. */
  end_user: Generated<string>;
}
