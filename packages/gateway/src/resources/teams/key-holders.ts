import type { Kysely } from "kysely";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Team } from "../../teams/team.ts";
import type { KeyHolder } from "./view.ts";

export interface FoundHolder extends KeyHolder {
  /** True if a person made the key and is no member any longer. */
  readonly isFormer: boolean;
}

/** Returns who holds keys of a team, by the id of the key. */
export async function findHolders(
  db: Kysely<Schema>,
  { id, accountId }: Pick<Team, "id" | "accountId">,
  tokens: readonly number[],
): Promise<ReadonlyMap<number, FoundHolder>> {
  if (tokens.length === 0) return new Map();
  const rows = await db
    .selectFrom("tokens as t")
    .leftJoin("users as u", "u.id", "t.member_id")
    .leftJoin("team_members as m", (on) => on.onRef("m.user_id", "=", "t.member_id").on("m.team_id", "=", id))
    .select(["t.id", "t.member_id", "t.service_account_id", "u.username", "m.user_id as membership"])
    .where("t.user_id", "=", accountId)
    .where("t.id", "in", tokens)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        member: row.member_id,
        memberName: row.username ?? "",
        serviceAccount: row.service_account_id,
        isFormer: row.member_id !== 0 && row.membership === null,
      },
    ]),
  );
}
