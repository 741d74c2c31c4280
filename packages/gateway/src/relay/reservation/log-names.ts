import { ACCOUNT_KIND } from "@fairway/wire";
import type { LogDetail } from "../../billing/ledger/ledger.ts";
import { formatActor } from "../../snapshot/team-record.ts";
import type { Database } from "../../storage/database.ts";

/** Returns the names that the log row of a batch or a cache has, whose call ended long ago. */
export async function readLogNames(
  { user_id, token_id }: { readonly user_id: number; readonly token_id: number },
  { database: { db } }: { readonly database: Pick<Database, "db"> },
): Promise<Pick<LogDetail, "username" | "tokenName" | "actor">> {
  const user = await db.selectFrom("users").select(["username", "kind"]).where("id", "=", user_id).executeTakeFirst();
  const tokens = db.selectFrom("tokens").select(["name", "member_id", "service_account_id"]);
  const token = await tokens.where("id", "=", token_id).executeTakeFirst();
  const names = { username: user?.username ?? "", tokenName: token?.name ?? "" };
  if (user?.kind !== ACCOUNT_KIND.wallet) return names;
  return { ...names, actor: formatActor(token?.member_id ?? 0, token?.service_account_id ?? 0) };
}
