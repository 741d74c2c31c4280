import { ACCOUNT_KIND, formatTokenOwner, type TokenOwner } from "@fairway/wire";
import type { Kysely } from "kysely";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { selectTeams, toTeam, type Team } from "../../teams/team.ts";
import { readWalletSlug } from "../../teams/wallet.ts";
import { noUser } from "./kinds.ts";

/** The account that pays for the calls of a token. */
export interface FoundOwner {
  readonly id: number;
  /** Undefined for a user. */
  readonly team: Team | undefined;
}

/** Finds a user who has an account, or a team that was not deleted. */
export async function findTokenOwner(db: Kysely<Schema>, owner: TokenOwner): Promise<FoundOwner | undefined> {
  if (owner.team !== undefined) {
    const living = selectTeams(db).where("teams.slug", "=", owner.team).where("teams.deleted_at", "is", null);
    const row = await living.executeTakeFirst();
    return row && { id: row.account_id, team: toTeam(row) };
  }
  const people = db.selectFrom("users").select("id").where("kind", "=", ACCOUNT_KIND.person);
  const named = people.where("username_key", "=", keyOfTokenOwner(owner)).where("deleted_at", "is", null);
  const row = await named.executeTakeFirst();
  return row && { id: row.id, team: undefined };
}

/** Returns the key under which the account of an owner is unique: that of a wallet is `team:SLUG`. */
export function keyOfTokenOwner(owner: TokenOwner): string {
  return usernameKey(formatTokenOwner(owner));
}

export function explainMissingOwner({ username = "", team }: TokenOwner): string {
  return team === undefined ? noUser(username) : `there is no team ${team}: create the team first`;
}

/** Returns the owner that an account is in documents. */
export function describeOwner(account: {
  readonly kind: number;
  readonly username: string;
  readonly username_key: string;
}): TokenOwner {
  if (account.kind !== ACCOUNT_KIND.wallet) return { username: account.username };
  return { team: readWalletSlug(account.username_key) };
}
