import { readStoredTagLimits, storedLimits, type User } from "@fairway/wire";
import type { Selectable } from "kysely";
import { buildEtag } from "../../http/etag.ts";
import type { UserTable } from "../../storage/tables/schema-accounts.ts";

export type UserRow = Omit<Selectable<UserTable>, "password" | "totp_secret" | "kind" | "balance_limit">;

/** Every column that a view or a rule needs; the password hash is read only by sign-in. */
export const USER_COLUMNS = [
  "id",
  "username",
  "username_key",
  "display_name",
  "role",
  "status",
  "email",
  "github_id",
  "github_uid",
  "wechat_id",
  "telegram_id",
  "linux_do_id",
  "oidc_id",
  "quota",
  "held",
  "used_quota",
  "request_count",
  "group",
  "aff_code",
  "aff_count",
  "aff_quota",
  "aff_history",
  "inviter_id",
  "setting",
  "limits",
  "tag_limits",
  "created_at",
  "deleted_at",
] as const satisfies readonly (keyof UserRow)[];

/** Returns a row without password and token, as it is sent. */
export function userView(row: UserRow): User {
  return {
    id: row.id,
    username: row.username,
    password: "",
    display_name: row.display_name,
    role: row.role,
    status: row.status,
    email: row.email ?? "",
    github_id: row.github_id ?? "",
    wechat_id: row.wechat_id ?? "",
    telegram_id: row.telegram_id ?? "",
    linux_do_id: row.linux_do_id ?? "",
    oidc_id: row.oidc_id ?? "",
    verification_code: "",
    access_token: null,
    quota: row.quota,
    used_quota: row.used_quota,
    request_count: row.request_count,
    group: row.group,
    aff_code: row.aff_code,
    aff_count: row.aff_count,
    aff_quota: row.aff_quota,
    aff_history_quota: row.aff_history,
    inviter_id: row.inviter_id,
    limits: storedLimits(row.limits) ?? {},
    tag_limits: readStoredTagLimits(row.tag_limits) ?? {},
    DeletedAt: row.deleted_at === null ? null : isoTime(row.deleted_at),
  };
}

/** Returns a tag that changes with every edit, but not with the balance and the counters, which change with usage. */
export function userTag(row: UserRow): string {
  const { username, display_name, role, status, email, group, limits, tag_limits, deleted_at } = row;
  return buildEtag({ username, display_name, role, status, email, group, limits, tag_limits, deleted_at });
}

/** Returns the view without addresses and bindings, for users of equal or higher role in lists. */
export function blankedView(row: UserRow): User {
  const bindings = { github_id: "", wechat_id: "", telegram_id: "", linux_do_id: "", oidc_id: "" };
  return { ...userView(row), ...bindings, email: "" };
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}
