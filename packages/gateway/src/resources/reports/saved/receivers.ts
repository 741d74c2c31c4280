import { ACCOUNT_KIND, ROLE, TEAM_STATUS, USER_STATUS } from "@fairway/wire";
import { sql, type Kysely } from "kysely";
import { usernameKey } from "../../../identity/accounts/accounts.ts";
import type { Schema } from "../../../storage/tables/schema.ts";
import { refuse } from "../refuse.ts";
import type { Reader } from "./make-report.ts";

/** Whose report it is: a person's, or that of a team, whose wallet is the account. */
export interface ReportOwner extends Reader {
  /** Absent for a person. */
  readonly teamId?: number | undefined;
}

interface Person {
  readonly id: number;
  readonly username: string;
}

/** Returns the owner of a stored report; undefined while the account or the team is off. */
export async function findReportOwner(db: Kysely<Schema>, userId: number): Promise<ReportOwner | undefined> {
  const accounts = db.selectFrom("users").select(["role", "kind"]).where("id", "=", userId);
  const on = accounts.where("status", "=", USER_STATUS.enabled).where("deleted_at", "is", null);
  const account = await on.executeTakeFirst();
  if (!account) return undefined;
  if (account.kind === ACCOUNT_KIND.person) return { userId, role: account.role };
  const teams = db.selectFrom("teams").select("id").where("account_id", "=", userId).where("deleted_at", "is", null);
  const team = await teams.where("status", "=", TEAM_STATUS.on).executeTakeFirst();
  // A team reads its own calls, also if an administrator saved the question.
  return team && { userId, role: ROLE.user, teamId: team.id };
}

/** Returns the ids of people by their names. Throws a refusal for one to whom the owner must not send a report. */
export async function findReceivers(
  db: Kysely<Schema>,
  owner: ReportOwner,
  names: readonly string[],
): Promise<number[]> {
  const keys = [...new Set(names.map(usernameKey))];
  if (keys.length === 0) return [];
  const people = await db
    .selectFrom("users")
    .select(["id", "username_key"])
    .where("username_key", "in", keys)
    .where("kind", "=", ACCOUNT_KIND.person)
    .where("deleted_at", "is", null)
    .execute();
  const permitted = new Set(
    await listPermitted(
      db,
      owner,
      people.map(({ id }) => id),
    ),
  );
  const ids = new Map(people.map(({ id, username_key: key }) => [key, id]));
  return names.flatMap((name) => {
    const id = ids.get(usernameKey(name)) ?? 0;
    if (!permitted.has(id))
      throw refuse("receivers", `must name people who are in a team with the owner, unlike ${name}`);
    return id === owner.userId ? [] : [id];
  });
}

/** Returns those to whom the owner may send a report now: a person who has left the team gets none. */
export async function listPermitted(
  db: Kysely<Schema>,
  { userId, role, teamId }: ReportOwner,
  ids: readonly number[],
): Promise<number[]> {
  if (ids.length === 0 || role >= ROLE.admin) return [...ids];
  const members = db
    .selectFrom("team_members")
    .select("user_id")
    .distinct()
    .where("user_id", "in", [...ids]);
  const near =
    teamId === undefined
      ? members.where("team_id", "in", (eb) =>
          eb.selectFrom("team_members").select("team_id").where("user_id", "=", userId),
        )
      : members.where("team_id", "=", teamId);
  return (await near.execute()).map(({ user_id: id }) => id);
}

export async function listPeople(db: Kysely<Schema>, ids: readonly number[]): Promise<Person[]> {
  if (ids.length === 0) return [];
  const people = db.selectFrom("users").select(["id", "username"]).where("deleted_at", "is", null);
  return people
    .where("id", "in", [...ids])
    .orderBy("username")
    .execute();
}

/** Locks people in the order of their ids until the end of the transaction. */
export async function lockPeople(trx: Kysely<Schema>, ids: readonly number[]): Promise<void> {
  for (const id of [...new Set(ids)].sort((a, b) => a - b))
    await sql`update users set status = status where id = ${id}`.execute(trx);
}
