import type { Kysely } from "kysely";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";

export interface Manager {
  /** The name of the provider whose directory manages the account. */
  readonly provider: string;
  /** True if the directory says that the person may sign in. */
  readonly isActive: boolean;
}

/** Returns whose directory manages an account; undefined if none does. */
export async function findManager(db: Kysely<Schema>, userId: number): Promise<Manager | undefined> {
  const row = await db
    .selectFrom("scim_users")
    .innerJoin("identity_providers", "identity_providers.id", "scim_users.provider_id")
    .select(["identity_providers.name", "scim_users.active"])
    .where("scim_users.user_id", "=", userId)
    .executeTakeFirst();
  return row && { provider: row.name, isActive: row.active === 1 };
}

/** Throws `account_managed` if the directory of a company decides about a member of the account. */
export async function refuseManaged(db: Kysely<Schema>, userId: number, field: string): Promise<void> {
  const manager = await findManager(db, userId);
  if (manager) throw new Refusal("account_managed", { field, values: { provider: manager.provider } });
}
