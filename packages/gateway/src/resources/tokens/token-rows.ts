// Rows of tokens: which columns are read, how they are found, and what they are for clients.
import {
  readStoredFixedTags,
  readStoredTagLimits,
  readStoredTagPolicy,
  storedLimits,
  TOKEN_FIELD_NAMES,
  TOKEN_FIELDS,
  type Token,
  type TokenColumns,
  type TokenField,
  type TokenFieldName,
} from "@fairway/wire";
import type { Selectable, Transaction } from "kysely";
import { buildEtag } from "../../http/etag.ts";
import type { TokenTable } from "../../storage/tables/schema-accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";

export const COLUMNS = [
  ...TOKEN_FIELD_NAMES,
  "id",
  "user_id",
  "key_sealed",
  "status",
  "created_time",
  "accessed_time",
  "used_quota",
  "disabled_by_admin",
  "member_id",
  "service_account_id",
  "rotated_at",
  "old_keys_until",
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

/** How answers show the stored values of a kind; those of other kinds are shown as they are. */
const SHOWN: { readonly [K in TokenField["kind"]]?: (stored: never) => unknown } = {
  flag: (stored: number) => stored !== 0,
  limits: (stored: string | null) => storedLimits(stored) ?? {},
  fallbacks: (stored: string | null) => stored ?? "inherit",
  tags: (stored: string | null) => readStoredFixedTags(stored) ?? {},
  policy: (stored: string | null) => readStoredTagPolicy(stored) ?? {},
  tag_limits: (stored: string | null) => readStoredTagLimits(stored) ?? {},
};

function showFields(row: TokenColumns): Pick<Token, TokenFieldName> {
  const shown = TOKEN_FIELD_NAMES.map((name) => {
    const show = SHOWN[TOKEN_FIELDS[name].kind];
    return [name, show ? show(row[name] as never) : row[name]] as const;
  });
  return Object.fromEntries(shown) as unknown as Pick<Token, TokenFieldName>;
}

export function toToken(row: Omit<TokenRow, "key_sealed">, key: string): Token {
  return {
    id: row.id,
    user_id: row.user_id,
    key,
    status: row.status,
    ...showFields(row),
    created_time: row.created_time,
    accessed_time: row.accessed_time,
    used_quota: row.used_quota,
    disabled_by_admin: row.disabled_by_admin !== 0,
    rotated_at: row.rotated_at,
    old_keys_until: row.old_keys_until,
    DeletedAt: null,
  };
}

const EDITED = TOKEN_FIELD_NAMES.filter((name) => !("isUsed" in TOKEN_FIELDS[name]));

/** Returns a tag that changes with every edit, but not with the remaining quota, which changes with usage. */
export function tokenTag(token: Omit<Token, "key">): string {
  const { status, disabled_by_admin, rotated_at } = token;
  const fields = Object.fromEntries(EDITED.map((name) => [name, token[name]]));
  return buildEtag({ ...fields, status, disabled_by_admin, rotated_at });
}
