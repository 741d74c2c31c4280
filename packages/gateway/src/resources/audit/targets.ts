import { isHiddenOption, type Endpoint } from "@fairway/wire";
import { sql } from "kysely";
import type { Database } from "../../storage/database.ts";
import { isObjectId } from "../../objects/ids.ts";
import { hintedText } from "../../lib/text/secret-members.ts";
import { SECRET_COLUMNS, secretPath, type SecretColumn } from "../../storage/secrets/channel-texts.ts";
import { isSealed } from "../../storage/secrets/secrets.ts";

/** The one row that a call changes. */
export interface Target {
  readonly kind: Kind;
  readonly id: number | string;
}

type Kind = keyof typeof TABLES;
export type Values = Readonly<Record<string, unknown>>;

/** The table and the column that calls use as the id of a row, by the second part of a path. */
const TABLES = {
  user: { table: "users", column: "id" },
  channel: { table: "channels", column: "id" },
  token: { table: "tokens", column: "id" },
  redemption: { table: "redemptions", column: "id" },
  option: { table: "options", column: "key" },
  budget: { table: "budgets", column: "id" },
  identity_provider: { table: "identity_providers", column: "id" },
  webhook: { table: "webhook_endpoints", column: "id" },
  pause: { table: "channel_pauses", column: "id" },
  price: { table: "price_plans", column: "id" },
  report: { table: "saved_reports", column: "id" },
  team: { table: "teams", column: "id" },
  service_account: { table: "service_accounts", column: "id" },
  batch: { table: "batches", column: "id" },
} as const;

/** Columns whose values are never recorded, only that they changed. */
const SECRET = new Set(["password", "totp_secret", "key_sealed", "key_hash", "secret_sealed", "scim_tokens"]);
/** Columns that the program itself changes at any time. */
const MOVING = new Set([
  "held",
  "used",
  "window_start",
  "used_quota",
  "request_count",
  "accessed_time",
  "response_time",
  "test_time",
  "failures",
  "timeouts",
  "failing_since",
  "next_at_ms",
  "next_at",
  "sent_at",
  "succeeded_at",
  "wire",
  "polls",
  "polled_at",
  "next_poll_at",
]);
const HIDDEN = "***";
/** Third parts of the paths of calls about the caller's own account. */
const OWN: ReadonlySet<string> = new Set(["self", "token", "aff", "passkey", "2fa"]);
/** Maximum length of one value; the history of options stores long lists in full. */
const MAX_CHARS = 16_384;

/** Returns the resource that a call's path and input name; undefined if the call is not about a single one. */
export function findTarget({ path }: Endpoint, input: Input): Target | undefined {
  const [, , kind = "", part] = path.split("/");
  if (!isKind(kind)) return undefined;
  if (kind === "user" && OWN.has(part ?? "")) return { kind, id: input.callerId };
  // Batches are named by a text.
  if (kind === "batch") return toTextTarget(kind, input.params);
  const named =
    readId(input.params) ?? (kind === "option" ? readKey(input.body) : readId(input.body)) ?? readId(input.data);
  return named === undefined ? undefined : { kind, id: named };
}

export interface Input {
  readonly params: unknown;
  readonly body: unknown;
  /** The result of the call; contains the id of a created row. */
  readonly data?: unknown;
  readonly callerId: number;
}

/** Returns the current row, with secrets replaced by a mark; undefined if there is no row. */
export async function readTarget({ db }: Database, { kind, id }: Target): Promise<Values | undefined> {
  const { table, column } = TABLES[kind];
  const query = sql<Values>`select * from ${sql.table(table)} where ${sql.ref(column)} = ${id}`;
  const { rows } = await query.execute(db);
  return rows[0];
}

/** Returns the columns that differ, before and after; for a created or deleted row, all columns. */
export function difference(
  before: Values | undefined,
  after: Values | undefined,
): readonly [Values | undefined, Values | undefined] {
  const names = Object.keys(after ?? before ?? {}).filter((name) => !MOVING.has(name));
  const changed = before && after ? names.filter((name) => before[name] !== after[name]) : names;
  return [before && pick(before, changed), after && pick(after, changed)];
}

function pick(row: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, shown(row, name)]));
}

function shown(row: Values, name: string): unknown {
  const value = row[name];
  if (SECRET.has(name) || (typeof value === "string" && isSealed(value))) return HIDDEN;
  // An unused redemption code is money; the value of a hidden option is a secret.
  if (name === "key" && "redeemed_time" in row) return HIDDEN;
  if (name === "value" && typeof row["key"] === "string" && isHiddenOption(row["key"])) return HIDDEN;
  return typeof value === "string" ? shownText(value, name) : value;
}

/** Hides secrets that rows of an earlier version may hold in clear. */
function shownText(value: string, name: string): string {
  const text = isSecretColumn(name) ? hintedText(value, secretPath(name)) : value;
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

function isSecretColumn(name: string): name is SecretColumn {
  return (SECRET_COLUMNS as readonly string[]).includes(name);
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(TABLES, text);
}

function toTextTarget(kind: Kind, params: unknown): Target | undefined {
  const id = typeof params === "object" && params !== null && "id" in params ? params.id : undefined;
  return typeof id === "string" && isObjectId(id) ? { kind, id } : undefined;
}

function readId(value: unknown): number | undefined {
  const given = typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
  const id = typeof given === "string" ? Number(given) : given;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

function readKey(value: unknown): string | undefined {
  const key = typeof value === "object" && value !== null && "key" in value ? value.key : undefined;
  return typeof key === "string" && key !== "" ? key : undefined;
}
