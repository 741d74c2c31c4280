import { ACCOUNT_KIND, MAX_TEAM_MEMBERS, MAX_TEAMS_PER_PERSON, TOKEN_STATUS, type TeamRole } from "@fairway/wire";
import type { Kysely } from "kysely";
import { recordEvent } from "../events/record-event.ts";
import { recordTokenEvent } from "../events/token-event.ts";
import { Refusal } from "../lib/refusal.ts";
import type { Schema } from "../storage/tables/schema.ts";
import type { Team } from "./team.ts";

type Db = Kysely<Schema>;

export interface NewMember {
  readonly userId: number;
  readonly role: TeamRole;
  /** `manual`, `link`, `import`, or the identity provider that made the membership. */
  readonly source: string;
  readonly addedBy: number;
  readonly nowMs: number;
}

type TeamOfMember = Pick<Team, "id" | "accountId" | "name" | "slug">;

export function listMembers(db: Db, teamId: number) {
  return db
    .selectFrom("team_members as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select(["m.user_id", "u.username", "u.display_name", "u.status", "m.role", "m.source", "m.created_at"])
    .where("m.team_id", "=", teamId)
    .where("u.deleted_at", "is", null)
    .orderBy("m.created_at")
    .orderBy("m.user_id")
    .execute();
}

/** Returns the role of a member; undefined for others. */
export async function findRole(db: Db, teamId: number, userId: number): Promise<TeamRole | undefined> {
  const row = await db
    .selectFrom("team_members")
    .select("role")
    .where("team_id", "=", teamId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row?.role as TeamRole | undefined;
}

/** Adds a person. The team is locked, so that two calls do not exceed a limit together. Throws `team_limit_reached`. */
export async function addMember(trx: Db, team: TeamOfMember, member: NewMember): Promise<void> {
  const { userId, role, source, addedBy, nowMs } = member;
  const person = trx.selectFrom("users").select("username").where("id", "=", userId).where("deleted_at", "is", null);
  const found = await person.where("kind", "=", ACCOUNT_KIND.person).executeTakeFirst();
  if (!found) throw new Refusal("user_not_found");
  if (await findRole(trx, team.id, userId)) throw new Refusal("team_member_exists", { field: "user_id" });
  await checkCount(trx, "team_id", team.id, MAX_TEAM_MEMBERS);
  await checkCount(trx, "user_id", userId, MAX_TEAMS_PER_PERSON);
  const row = { team_id: team.id, user_id: userId, role, source, added_by: addedBy };
  await trx
    .insertInto("team_members")
    .values({ ...row, created_at: Math.floor(nowMs / 1000) })
    .execute();
  await recordMember(trx, team, { userId, username: found.username, role, type: "team.member_joined", nowMs });
}

/** Changes the role of a member; without the right to, the last owner stays one (`team_last_owner`). */
export async function changeRole(
  trx: Db,
  team: TeamOfMember,
  { userId, role, mayEndOwner, nowMs }: RoleChange & { readonly role: TeamRole },
): Promise<void> {
  const before = await requireRole(trx, team.id, userId);
  if (before === role) return;
  if (before === "owner") await checkOtherOwner(trx, team.id, { userId, mayEndOwner });
  const own = trx.updateTable("team_members").set({ role }).where("team_id", "=", team.id);
  await own.where("user_id", "=", userId).execute();
  const username = await readUsername(trx, userId);
  await recordMember(trx, team, { userId, username, role, type: "team.role_changed", nowMs });
}

export interface RoleChange {
  readonly userId: number;
  /** True for administrators of the installation, who alone remove or demote the last owner. */
  readonly mayEndOwner: boolean;
  readonly nowMs: number;
}

/** Ends a membership and the invitations of the person. The keys of the member are a matter of `releaseKeys`. */
export async function removeMember(trx: Db, team: TeamOfMember, change: RoleChange): Promise<void> {
  const { userId, nowMs } = change;
  const role = await requireRole(trx, team.id, userId);
  if (role === "owner") await checkOtherOwner(trx, team.id, change);
  await trx.deleteFrom("team_members").where("team_id", "=", team.id).where("user_id", "=", userId).execute();
  const open = trx.updateTable("team_invitations").set({ revoked_at: Math.floor(nowMs / 1000) });
  await open.where("team_id", "=", team.id).where("created_by", "=", userId).where("revoked_at", "is", null).execute();
  const username = await readUsername(trx, userId);
  await recordMember(trx, team, { userId, username, role, type: "team.member_left", nowMs });
  if (role === "owner" && (await countOwners(trx, team.id)) === 0) await recordOwnerless(trx, team, nowMs);
}

/** Why keys of a former member change. */
const LEFT = "its maker left the team";

/** Disables the keys that a person made in a team, whatever happens to them later. */
export async function disableKeys(
  trx: Db,
  { accountId, memberId, nowMs }: { readonly accountId: number; readonly memberId: number; readonly nowMs: number },
): Promise<void> {
  const keys = trx.selectFrom("tokens").select(["id", "name", "user_id", "member_id"]).where("user_id", "=", accountId);
  const own = keys.where("member_id", "=", memberId).where("service_account_id", "=", 0);
  const rows = await own.where("status", "=", TOKEN_STATUS.enabled).where("deleted_at", "is", null).execute();
  for (const row of rows) {
    await trx.updateTable("tokens").set({ status: TOKEN_STATUS.disabled }).where("id", "=", row.id).execute();
    await recordTokenEvent(trx, row, { type: "token.disabled", atMs: nowMs, about: nowMs, data: { by: LEFT } });
  }
}

/** Records that keys whose maker left by choice still work, so that an admin replaces them. */
export async function recordRotationDue(trx: Db, ids: readonly number[], nowMs: number): Promise<void> {
  if (ids.length === 0) return;
  const rows = trx
    .selectFrom("tokens")
    .select(["id", "name", "key_hint", "user_id", "member_id"])
    .where("id", "in", ids);
  for (const row of await rows.execute()) {
    const data = { hint: row.key_hint, reason: LEFT };
    await recordTokenEvent(trx, row, { type: "token.rotation_due", atMs: nowMs, about: nowMs, data });
  }
}

/** Gives the keys that a person made to the team; returns their ids. */
export async function giveKeysToTeam(trx: Db, accountId: number, memberId: number): Promise<number[]> {
  const own = trx.selectFrom("tokens").select("id").where("user_id", "=", accountId).where("member_id", "=", memberId);
  const ids = (await own.where("deleted_at", "is", null).orderBy("id").execute()).map(({ id }) => id);
  if (ids.length > 0) await trx.updateTable("tokens").set({ member_id: 0 }).where("id", "in", ids).execute();
  return ids;
}

async function requireRole(trx: Db, teamId: number, userId: number): Promise<TeamRole> {
  const role = await findRole(trx, teamId, userId);
  if (!role) throw new Refusal("team_member_not_found");
  return role;
}

async function checkOtherOwner(
  trx: Db,
  teamId: number,
  { mayEndOwner }: Pick<RoleChange, "userId" | "mayEndOwner">,
): Promise<void> {
  if (!mayEndOwner && (await countOwners(trx, teamId)) < 2) throw new Refusal("team_last_owner");
}

async function countOwners(trx: Db, teamId: number): Promise<number> {
  const owners = trx.selectFrom("team_members").where("team_id", "=", teamId).where("role", "=", "owner");
  const { count } = await owners.select((eb) => eb.fn.countAll<number>().as("count")).executeTakeFirstOrThrow();
  return Number(count);
}

async function checkCount(trx: Db, column: "team_id" | "user_id", id: number, most: number): Promise<void> {
  const rows = trx.selectFrom("team_members").where(column, "=", id);
  const { count } = await rows.select((eb) => eb.fn.countAll<number>().as("count")).executeTakeFirstOrThrow();
  if (Number(count) >= most) throw new Refusal("team_limit_reached", { values: { n: most } });
}

async function readUsername(trx: Db, userId: number): Promise<string> {
  return (await trx.selectFrom("users").select("username").where("id", "=", userId).executeTakeFirst())?.username ?? "";
}

interface MemberEvent {
  readonly userId: number;
  readonly username: string;
  readonly role: TeamRole;
  readonly type: "team.member_joined" | "team.member_left" | "team.role_changed";
  readonly nowMs: number;
}

function recordMember(trx: Db, { id, name, slug, accountId }: TeamOfMember, event: MemberEvent): Promise<void> {
  const { userId, username, role, type, nowMs } = event;
  return recordEvent(trx, {
    type,
    atMs: nowMs,
    accountId,
    teamId: id,
    userId,
    dedupKey: `${type}-${id}-${userId}-${nowMs}`,
    data: { id, name, slug, user_id: userId, username, role },
  });
}

function recordOwnerless(trx: Db, { id, name, slug, accountId }: TeamOfMember, nowMs: number): Promise<void> {
  return recordEvent(trx, {
    type: "team.ownerless",
    atMs: nowMs,
    accountId,
    teamId: id,
    dedupKey: `team.ownerless-${id}-${nowMs}`,
    data: { id, name, slug },
  });
}
