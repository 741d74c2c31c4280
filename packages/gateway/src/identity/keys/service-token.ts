import { INSTALLATION_TEAM, ROLE, SERVICE_ACCOUNT_STATUS, USER_STATUS } from "@fairway/wire";
import type { Kysely } from "kysely";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Account, CallerToken } from "../principal.ts";
import { hashRandomId } from "../sessions/sessions.ts";

/** The time of last use has a resolution of one minute, because a write per call would cost more than the call. */
const USED_EVERY_SECONDS = 60;

/** No row has it: a service account of the installation is an administrator without an account. */
const NO_ACCOUNT = 0;
const DEFAULT_GROUP = "default";

/**
 * Finds the access token of a service account; undefined if it is unknown or expired. The account of one of a team is
 * the wallet, with the name of the service account: no call about a person finds more than that.
 */
export async function findServiceToken(
  db: Kysely<Schema>,
  token: string,
  now: number,
): Promise<{ readonly account: Account; readonly token: CallerToken } | undefined> {
  const row = await db
    .selectFrom("service_tokens as t")
    .innerJoin("service_accounts as s", "s.id", "t.service_account_id")
    .leftJoin("teams as g", "g.id", "s.team_id")
    .leftJoin("users as u", "u.id", "g.account_id")
    .select(["t.id", "t.name", "t.scopes", "t.last_used_at", "s.id as service_id", "s.name as service_name"])
    .select(["s.status", "s.deleted_at", "s.team_id", "g.deleted_at as team_deleted_at"])
    .select(["u.id as account_id", "u.group"])
    .where("t.token_hash", "=", hashRandomId(token))
    .where("t.expires_at", ">", now)
    .executeTakeFirst();
  if (!row) return undefined;
  const { team_id: teamId, service_id: id } = row;
  if (teamId !== INSTALLATION_TEAM && row.account_id === null) return undefined;
  if (now - row.last_used_at >= USED_EVERY_SECONDS) await touch(db, row, now);
  const isOn = row.status === SERVICE_ACCOUNT_STATUS.on;
  return {
    account: {
      id: row.account_id ?? NO_ACCOUNT,
      // No person has a name with a colon.
      username: teamId === INSTALLATION_TEAM ? `service:${row.service_name}` : row.service_name,
      role: teamId === INSTALLATION_TEAM ? ROLE.admin : ROLE.user,
      status: isOn ? USER_STATUS.enabled : USER_STATUS.disabled,
      group: row.group ?? DEFAULT_GROUP,
      isDeleted: row.deleted_at !== null || row.team_deleted_at !== null,
    },
    token: { name: row.name, scopes: row.scopes.split(" "), serviceAccount: { id, teamId } },
  };
}

async function touch(
  db: Kysely<Schema>,
  { id, service_id: serviceId }: { readonly id: number; readonly service_id: number },
  now: number,
): Promise<void> {
  await db.updateTable("service_tokens").set({ last_used_at: now }).where("id", "=", id).execute();
  await db.updateTable("service_accounts").set({ last_used_at: now }).where("id", "=", serviceId).execute();
}
