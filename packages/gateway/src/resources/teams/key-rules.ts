import { NEVER_EXPIRES } from "@fairway/wire";
import type { Transaction } from "kysely";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Team } from "../../teams/team.ts";

const DAY = 86_400;

/** Returns the groups that keys of a team may use, the usual one first. */
export function listTeamGroups({ settings: { groups }, group }: Team): readonly [string, ...string[]] {
  const [usual, ...others] = groups;
  return usual === undefined ? [group] : [usual, ...others];
}

/** Throws `team_key_too_long` if keys of the team do not work as long as that. */
export function checkLife({ settings: { max_key_days: days } }: Team, expiry: number, now: number): void {
  const isTooLong = expiry === NEVER_EXPIRES || expiry > now + days * DAY;
  if (days > 0 && isTooLong) throw new Refusal("team_key_too_long", { field: "expired_time", values: { n: days } });
}

/** Throws `team_keys_limit` if a member has as many keys of the team as the team allows. */
export async function checkKeyCount(trx: Transaction<Schema>, team: Team, memberId: number): Promise<void> {
  const most = team.settings.max_keys_per_member;
  const own = trx.selectFrom("tokens").where("user_id", "=", team.accountId).where("member_id", "=", memberId);
  const living = own.where("service_account_id", "=", 0).where("deleted_at", "is", null);
  const { count } = await living.select((eb) => eb.fn.countAll<number>().as("count")).executeTakeFirstOrThrow();
  if (Number(count) >= most) throw new Refusal("team_keys_limit", { values: { n: most } });
}
