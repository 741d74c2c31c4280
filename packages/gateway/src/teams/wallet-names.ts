import type { Kysely } from "kysely";
import type { Schema } from "../storage/tables/schema.ts";
import { buildWalletKey, cutName } from "./wallet.ts";

type Db = Kysely<Schema>;

/** How an administrator names a team where users are named: their names have no colon. */
const TEAM = "team:";

/** The accounts that a name stands for: a wallet, or everyone of that name who is no wallet. */
export type NamedAccounts = { readonly wallet: number | undefined } | { readonly otherThan: readonly number[] };

/** Reads `team:research`, or the name of a user, which never stands for a team of the same name. */
export async function findNamedAccounts(db: Db, name: string): Promise<NamedAccounts> {
  if (name.startsWith(TEAM)) {
    const slug = buildWalletKey(name.slice(TEAM.length));
    const wallet = await db.selectFrom("users").select("id").where("username_key", "=", slug).executeTakeFirst();
    return { wallet: wallet?.id };
  }
  const wallets = await db.selectFrom("teams").select("account_id").where("name", "=", cutName(name)).execute();
  return { otherThan: wallets.map(({ account_id: id }) => id) };
}
