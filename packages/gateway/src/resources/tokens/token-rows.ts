// Rows of tokens: which columns are read, how they are found, and what they are for clients.
import { readStoredFixedTags, readStoredTagPolicy, storedLimits, type Token } from "@fairway/wire";
import type { Selectable, Transaction } from "kysely";
import { buildEtag } from "../../http/etag.ts";
import type { TokenTable } from "../../storage/tables/schema-accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";

export const COLUMNS = [
  "id",
  "user_id",
  "key_sealed",
  "status",
  "name",
  "created_time",
  "accessed_time",
  "expired_time",
  "remain_quota",
  "unlimited_quota",
  "model_limits_enabled",
  "model_limits",
  "allow_ips",
  "used_quota",
  "group",
  "limits",
  "fallbacks",
  "fixed_tags",
  "tags",
  "disabled_by_admin",
  "member_id",
  "service_account_id",
  "rotated_at",
  "old_keys_until",
  "rotate_days",
  "rotate_grace_seconds",
  "deleted_at",
] as const satisfies readonly (keyof TokenTable)[];

export type TokenRow = Pick<Selectable<TokenTable>, (typeof COLUMNS)[number]>;

export function selectOwnRows(db: Pick<Transaction<Schema>, "selectFrom">, userId: number, ids: readonly number[]) {
  return db.selectFrom("tokens").where("user_id", "=", userId).where("deleted_at", "is", null).where("id", "in", ids);
}

export async function countTokens(db: Pick<Transaction<Schema>, "selectFrom">, userId: number): Promise<number> {
  const query = db.selectFrom("tokens").where("user_id", "=", userId).where("deleted_at", "is", null);
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return Number(total);
}

export function findTokenRow(
  db: Pick<Transaction<Schema>, "selectFrom">,
  userId: number,
  id: number,
  isAny = false,
): Promise<TokenRow | undefined> {
  const row = db.selectFrom("tokens").select(COLUMNS).where("id", "=", id).where("user_id", "=", userId);
  return (isAny ? row : row.where("deleted_at", "is", null)).executeTakeFirst();
}

export function toToken(row: Omit<TokenRow, "key_sealed">, key: string): Token {
  return {
    id: row.id,
    user_id: row.user_id,
    key,
    status: row.status,
    name: row.name,
    created_time: row.created_time,
    accessed_time: row.accessed_time,
    expired_time: row.expired_time,
    remain_quota: row.remain_quota,
    unlimited_quota: row.unlimited_quota !== 0,
    model_limits_enabled: row.model_limits_enabled !== 0,
    model_limits: row.model_limits,
    allow_ips: row.allow_ips,
    used_quota: row.used_quota,
    group: row.group,
    limits: storedLimits(row.limits) ?? {},
    fallbacks: row.fallbacks ?? "inherit",
    fixed_tags: readStoredFixedTags(row.fixed_tags) ?? {},
    tags: readStoredTagPolicy(row.tags) ?? {},
    disabled_by_admin: row.disabled_by_admin !== 0,
    rotated_at: row.rotated_at,
    old_keys_until: row.old_keys_until,
    rotate_days: row.rotate_days,
    rotate_grace_seconds: row.rotate_grace_seconds,
    DeletedAt: null,
  };
}

/** Returns a tag that changes with every edit, but not with the remaining quota, which changes with usage. */
export function tokenTag(token: Omit<Token, "key">): string {
  const { name, status, expired_time, unlimited_quota, model_limits_enabled, model_limits, allow_ips, group } = token;
  const { rotate_days, rotate_grace_seconds, limits, fallbacks, fixed_tags, tags } = token;
  const limited = {
    model_limits_enabled,
    model_limits,
    allow_ips,
    limits,
    fallbacks,
    fixed_tags,
    tags,
    rotate_days,
    rotate_grace_seconds,
  };
  const switched = { status, disabled_by_admin: token.disabled_by_admin, rotated_at: token.rotated_at };
  return buildEtag({ name, expired_time, unlimited_quota, group, ...switched, ...limited });
}
