import { runSql } from "@fairway/testkit";
import type { DatabaseKind } from "@fairway/testkit/databases";

/** Columns of a table with their kinds of type; `?` behind one means that it may be null. */
type Columns = Readonly<Record<string, string>>;

const TYPES: Readonly<Record<DatabaseKind, Readonly<Record<string, string>>>> = {
  sqlite: {
    id: "integer primary key autoincrement",
    int: "integer",
    text: "text",
    bool: "numeric",
    time: "datetime",
    key48: "char(48)",
    key32: "char(32)",
    real: "real",
  },
  mariadb: {
    id: "bigint auto_increment primary key",
    int: "bigint",
    text: "longtext",
    bool: "tinyint(1)",
    time: "datetime(3)",
    key48: "char(48)",
    key32: "char(32)",
    real: "double",
  },
  postgres: {
    id: "bigserial primary key",
    int: "bigint",
    text: "text",
    bool: "boolean",
    time: "timestamptz",
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

/** The tables of One API of 2024-12. */
export const ONE_API: Readonly<Record<string, Columns>> = {
  users: { ...USERS, lark_id: "text", oidc_id: "text" },
  tokens: { ...TOKENS, models: "text", subnet: "text" },
  channels: { ...CHANNELS, config: "text", system_prompt: "text" },
  redemptions: REDEMPTIONS,
  logs: { ...LOGS, channel_id: "int", elapsed_time: "int", is_stream: "bool", request_id: "text" },
  options: OPTIONS,
};

export type FamilyRow = Readonly<Record<string, string | number | boolean | null>>;

/** A database as a gateway of the family makes it, by SQL alone. */
export class FamilyDatabase {
  readonly url: string;
  readonly #kind: DatabaseKind;

  constructor(url: string, kind: DatabaseKind) {
    this.url = url;
    this.#kind = kind;
  }

  async create(tables: Readonly<Record<string, Columns>>): Promise<void> {
    for (const [table, columns] of Object.entries(tables)) {
      const parts = Object.entries(columns).map(([name, type]) => `${this.#quote(name)} ${this.#type(type)}`);
      await runSql(this.url, `create table ${table} (${parts.join(", ")})`);
    }
  }

  async insert(table: string, ...rows: readonly FamilyRow[]): Promise<void> {
    for (const row of rows) {
      const names = Object.keys(row).map((name) => this.#quote(name));
      const values = Object.values(row).map((value) => this.#literal(value));
      await runSql(this.url, `insert into ${table} (${names.join(", ")}) values (${values.join(", ")})`);
    }
  }

  #type(type: string): string {
    return type === "name" ? "varchar(191) primary key" : (TYPES[this.#kind][type] ?? type);
  }

  #quote(name: string): string {
    return this.#kind === "mariadb" ? `\`${name}\`` : `"${name}"`;
  }

  #literal(value: string | number | boolean | null): string {
    if (value === null) return "null";
    if (typeof value === "boolean") return this.#kind === "postgres" ? String(value) : String(Number(value));
    if (typeof value === "number") return String(value);
    const text = value.replaceAll("'", "''");
    return this.#kind === "mariadb" ? `'${text.replaceAll("\\", "\\\\")}'` : `'${text}'`;
  }
}
