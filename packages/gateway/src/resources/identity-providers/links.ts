import { ROLE, type LinkedIdentity } from "@fairway/wire";
import type { Kysely, Transaction } from "kysely";
import { ownsAddress } from "../../identity/providers/enforcement.ts";
import type { Grants } from "../../identity/providers/mapping.ts";
import type { Provider } from "../../identity/providers/provider.ts";
import { inChunks } from "../../lib/chunks.ts";
import type { Schema } from "../../storage/tables/schema.ts";

const IDS_PER_STATEMENT = 500;

export async function listIdentities(
  db: Kysely<Schema>,
  providerId: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly rows: LinkedIdentity[]; readonly total: number }> {
  const matching = db
    .selectFrom("user_identities")
    .innerJoin("users", "users.id", "user_identities.user_id")
    .where("provider_id", "=", providerId);
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  const rows = await matching
    .select(["user_identities.id", "user_id", "username", "subject", "granted", "last_at"])
    .orderBy("user_identities.id", "desc")
    .offset(offset)
    .limit(limit)
    .execute();
  return { rows: rows.map(toView), total: Number(total) };
}

function toView({ granted, ...row }: Omit<LinkedIdentity, "role" | "group"> & { readonly granted: string }) {
  const { role = "", group = "" } = JSON.parse(granted) as Grants;
  return { ...row, role, group };
}

/** Ends the sessions of the company's people that something else than the provider opened. */
export async function endOtherSessions(trx: Transaction<Schema>, provider: Provider): Promise<void> {
  const linked = await trx
    .selectFrom("user_identities")
    .select("user_id")
    .where("provider_id", "=", provider.id)
    .execute();
  const signedIn = await trx
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.user_id")
    .select(["users.id", "users.email", "users.role"])
    .where("sessions.provider_id", "!=", provider.id)
    .distinct()
    .execute();
  const members = new Set(linked.map(({ user_id }) => user_id));
  const concerned = signedIn
    .filter(({ id, role }) => role !== ROLE.root && !provider.exempt.includes(id))
    .filter(({ id, email }) => members.has(id) || ownsAddress(provider, email ?? ""));
  for (const some of inChunks(concerned, IDS_PER_STATEMENT)) {
    const ids = some.map(({ id }) => id);
    await trx.deleteFrom("sessions").where("user_id", "in", ids).where("provider_id", "!=", provider.id).execute();
  }
}
