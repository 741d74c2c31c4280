import { runSql } from "@fairway/testkit";
import type { DatabaseKind } from "@fairway/testkit/databases";

/** Columns of a table with their kinds of type; `?` behind one means that it may be null. */
type Columns = Readonly<Record<string, string>>;

const TYPES: Readonly<Record<DatabaseKind, Readonly<Record<string, string>>>> = {
  sqlite: {
    json: "json",
    list: "text",
    id: "integer primary key autoincrement",
    int: "integer",
    text: "text",
    bool: "numeric",
    time: "datetime",
    instant: "datetime",
    key48: "char(48)",
    key32: "char(32)",
    real: "real",
  },
  mariadb: {
    json: "json",
    list: "longtext",
    id: "bigint auto_increment primary key",
    int: "bigint",
    text: "longtext",
    bool: "tinyint(1)",
    time: "datetime(3)",
    instant: "datetime(3)",
    key48: "char(48)",
    key32: "char(32)",
    real: "double",
  },
  postgres: {
    json: "json",
    list: "text[]",
    id: "bigserial primary key",
    int: "bigint",
    text: "text",
    bool: "boolean",
    time: "timestamptz",
    instant: "timestamp(3)",
    key48: "char(48)",
    key32: "char(32)",
    real: "double precision",
  },
};

const USERS = {
  id: "id",
  username: "text",
  password: "text",
  display_name: "text",
  role: "int",
  status: "int",
  email: "text",
  github_id: "text",
  wechat_id: "text",
  access_token: "key32",
  quota: "int",
  used_quota: "int",
  request_count: "int",
  group: "text",
  aff_code: "text",
  inviter_id: "int",
};
const TOKENS = {
  id: "id",
  user_id: "int",
  key: "key48",
  status: "int",
  name: "text",
  created_time: "int",
  accessed_time: "int",
  expired_time: "int",
  remain_quota: "int",
  unlimited_quota: "bool",
  used_quota: "int",
};
const CHANNELS = {
  id: "id",
  type: "int",
  key: "text",
  status: "int",
  name: "text",
  weight: "int",
  created_time: "int",
  test_time: "int",
  response_time: "int",
  base_url: "text",
  other: "text",
  balance: "real",
  balance_updated_time: "int",
  models: "text",
  group: "text",
  used_quota: "int",
  model_mapping: "text",
  priority: "int",
};
const REDEMPTIONS = {
  id: "id",
  user_id: "int",
  key: "key32",
  status: "int",
  name: "text",
  quota: "int",
  created_time: "int",
  redeemed_time: "int",
};
const LOGS = {
  id: "id",
  user_id: "int",
  created_at: "int",
  type: "int",
  content: "text",
  username: "text",
  token_name: "text",
  model_name: "text",
  quota: "int",
  prompt_tokens: "int",
  completion_tokens: "int",
};
const OPTIONS = { key: "name", value: "text" };

/** The tables of New API of 2025-04. */
export const NEW_API: Readonly<Record<string, Columns>> = {
  users: {
    ...USERS,
    telegram_id: "text",
    linux_do_id: "text",
    oidc_id: "text",
    aff_count: "int",
    aff_quota: "int",
    aff_history: "int",
    deleted_at: "time",
    setting: "text",
  },
  tokens: {
    ...TOKENS,
    model_limits_enabled: "bool",
    model_limits: "text",
    allow_ips: "text",
    group: "text",
    deleted_at: "time",
  },
  channels: {
    ...CHANNELS,
    openai_organization: "text",
    test_model: "text",
    status_code_mapping: "text",
    auto_ban: "int",
    other_info: "text",
    tag: "text",
    setting: "text",
    param_override: "text",
  },
  redemptions: { ...REDEMPTIONS, used_user_id: "int", deleted_at: "time" },
  logs: {
    ...LOGS,
    use_time: "int",
    is_stream: "bool",
    channel_id: "int",
    token_id: "int",
    group: "text",
    other: "text",
  },
  options: OPTIONS,
};

/** The tables of New API of 2025-10 and after: more columns, and what they hold changed. */
export const NEW_API_RECENT: Readonly<Record<string, Columns>> = {
  ...NEW_API,
  users: { ...NEW_API["users"], stripe_customer: "text", remark: "text", created_at: "int", last_login_at: "int" },
  tokens: { ...NEW_API["tokens"], cross_group_retry: "bool" },
  channels: {
    ...NEW_API["channels"],
    header_override: "text",
    remark: "text",
    channel_info: "json",
    settings: "text",
  },
  redemptions: { ...NEW_API["redemptions"], expired_time: "int" },
  logs: { ...NEW_API["logs"], ip: "text", request_id: "text" },
  two_fas: {
    id: "id",
    user_id: "int",
    secret: "text",
    is_enabled: "bool",
    failed_attempts: "int",
    locked_until: "time",
    created_at: "time",
    deleted_at: "time",
  },
  passkey_credentials: {
    id: "id",
    user_id: "int",
    credential_id: "text",
    public_key: "text",
    sign_count: "int",
    transports: "text",
    created_at: "time",
    last_used_at: "time",
    deleted_at: "time",
  },
  top_ups: {
    id: "id",
    user_id: "int",
    amount: "int",
    money: "real",
    trade_no: "text",
    payment_method: "text",
    payment_provider: "text",
    create_time: "int",
    complete_time: "int",
    status: "text",
  },
  midjourneys: {
    id: "id",
    code: "int",
    user_id: "int",
    action: "text",
    mj_id: "text",
    prompt: "text",
    submit_time: "int",
    start_time: "int",
    finish_time: "int",
    image_url: "text",
    status: "text",
    progress: "text",
    fail_reason: "text",
    channel_id: "int",
    quota: "int",
  },
  tasks: {
    id: "id",
    created_at: "int",
    updated_at: "int",
    task_id: "text",
    platform: "text",
    user_id: "int",
    channel_id: "int",
    quota: "int",
    action: "text",
    status: "text",
    fail_reason: "text",
    submit_time: "int",
    start_time: "int",
    finish_time: "int",
    progress: "text",
    properties: "json",
    private_data: "json",
    data: "json",
  },
  quota_data: {
    id: "id",
    user_id: "int",
    username: "text",
    model_name: "text",
    created_at: "int",
    token_used: "int",
    count: "int",
    quota: "int",
  },
};

/** The tables of One API of 2024-12. */
export const ONE_API: Readonly<Record<string, Columns>> = {
  users: { ...USERS, lark_id: "text", oidc_id: "text" },
  tokens: { ...TOKENS, models: "text", subnet: "text" },
  channels: { ...CHANNELS, config: "text", system_prompt: "text" },
  redemptions: REDEMPTIONS,
  logs: { ...LOGS, channel_id: "int", elapsed_time: "int", is_stream: "bool", request_id: "text" },
  options: OPTIONS,
};

const LITELLM_SPENDING = {
  spend: "real",
  max_budget: "real",
  budget_duration: "text",
  soft_budget: "real",
  tpm_limit: "int",
  rpm_limit: "int",
  max_parallel_requests: "int",
  models: "list",
};

/** The tables of LiteLLM of 2025-10 that are read, with the columns that are read. */
export const LITELLM: Readonly<Record<string, Columns>> = {
  LiteLLM_BudgetTable: { budget_id: "name", ...LITELLM_SPENDING },
  LiteLLM_UserTable: {
    user_id: "name",
    user_alias: "text",
    user_email: "text",
    user_role: "text",
    password: "text",
    ...LITELLM_SPENDING,
  },
  LiteLLM_TeamTable: {
    team_id: "name",
    team_alias: "text",
    organization_id: "text",
    members_with_roles: "json",
    model_max_budget: "json",
    blocked: "bool",
    ...LITELLM_SPENDING,
  },
  LiteLLM_TeamMembership: { user_id: "text", team_id: "text", spend: "real", budget_id: "text" },
  LiteLLM_OrganizationTable: { organization_id: "name", organization_alias: "text", budget_id: "text" },
  LiteLLM_EndUserTable: { user_id: "name", alias: "text", spend: "real", budget_id: "text", blocked: "bool" },
  LiteLLM_TagTable: { tag_name: "name", description: "text", spend: "real", budget_id: "text" },
  LiteLLM_DailyEndUserSpend: { id: "name", end_user_id: "text", date: "text", api_key: "text", spend: "real" },
  LiteLLM_DailyTagSpend: { id: "name", tag: "text", date: "text", api_key: "text", spend: "real" },
  LiteLLM_ProjectTable: { project_id: "name", project_alias: "text" },
  LiteLLM_VerificationToken: {
    token: "name",
    key_name: "text",
    key_alias: "text",
    expires: "instant",
    user_id: "text",
    team_id: "text",
    budget_id: "text",
    project_id: "text",
    metadata: "json",
    auto_rotate: "bool",
    rotation_interval: "text",
    blocked: "bool",
    aliases: "json",
    created_at: "instant",
    last_active: "instant",
    ...LITELLM_SPENDING,
  },
  LiteLLM_ProxyModelTable: { model_id: "name", model_name: "text", litellm_params: "json" },
};

export type SourceRow = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** The database of a compatible gateway, created by SQL alone. */
export class SourceDatabase {
  readonly url: string;
  readonly #kind: DatabaseKind;

  constructor(url: string, kind: DatabaseKind) {
    this.url = url;
    this.#kind = kind;
  }

  async create(tables: Readonly<Record<string, Columns>>): Promise<void> {
    for (const [table, columns] of Object.entries(tables)) {
      const parts = Object.entries(columns).map(([name, type]) => `${this.#quote(name)} ${this.#type(type)}`);
      await runSql(this.url, `create table ${this.#quote(table)} (${parts.join(", ")})`);
    }
  }

  /** Columns that a row does not name hold null. */
  async insert(table: string, ...rows: readonly SourceRow[]): Promise<void> {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const tuples = rows.map((row) => `(${names.map((name) => this.#literal(row[name] ?? null)).join(", ")})`);
    const into = names.map((name) => this.#quote(name)).join(", ");
    await runSql(this.url, `insert into ${this.#quote(table)} (${into}) values ${tuples.join(", ")}`);
  }

  #type(type: string): string {
    return type === "name" ? "varchar(191) primary key" : (TYPES[this.#kind][type] ?? type);
  }

  #quote(name: string): string {
    return this.#kind === "mariadb" ? `\`${name}\`` : `"${name}"`;
  }

  #literal(value: SourceRow[string] | null): string {
    if (value === null || value === undefined) return "null";
    if (typeof value === "object")
      return this.#kind === "postgres"
        ? `array[${value.map((item) => this.#literal(item)).join(", ")}]::text[]`
        : this.#literal(JSON.stringify(value));
    if (typeof value === "boolean") return this.#kind === "postgres" ? String(value) : String(Number(value));
    if (typeof value === "number") return String(value);
    const text = value.replaceAll("'", "''");
    return this.#kind === "mariadb" ? `'${text.replaceAll("\\", "\\\\")}'` : `'${text}'`;
  }
}
