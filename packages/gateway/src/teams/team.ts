import { DEFAULT_TEAM_SETTINGS, readTeamSettings, TEAM_STATUS, type TeamRole, type TeamSettings } from "@fairway/wire";
import { sql, type Kysely } from "kysely";
import type { Schema } from "../storage/tables/schema.ts";

/** A team with the money of its wallet. */
export interface Team {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly settings: TeamSettings;
  readonly isOn: boolean;
  readonly createdBy: number;
  readonly createdAt: number;
  readonly deletedAt: number | null;
  readonly version: number;
  /** The group of the wallet, like the next two. */
  readonly group: string;
  readonly quota: number;
  readonly usedQuota: number;
}

type Db = Kysely<Schema>;

/** Selects teams with their wallets. */
export function selectTeams(db: Db) {
  return db
    .selectFrom("teams")
    .innerJoin("users", "users.id", "teams.account_id")
    .select([
      "teams.id",
      "teams.account_id",
      "teams.name",
      "teams.slug",
      "teams.description",
      "teams.labels",
      "teams.settings",
      "teams.status",
      "teams.created_by",
      "teams.created_at",
      "teams.deleted_at",
      "teams.version",
    ])
    .select(["users.group", "users.quota", "users.used_quota"]);
}

export type TeamRow = Awaited<ReturnType<ReturnType<typeof selectTeams>["execute"]>>[number];

export function toTeam(row: TeamRow): Team {
  const settings = readTeamSettings(row.settings);
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    labels: readLabels(row.labels),
    settings: settings ?? DEFAULT_TEAM_SETTINGS,
    isOn: row.status === TEAM_STATUS.on,
    createdBy: row.created_by,
    createdAt: row.created_at,
    deletedAt: row.deleted_at,
    version: row.version,
    group: row.group,
    quota: row.quota,
    usedQuota: row.used_quota,
  };
}

function readLabels(text: string): Readonly<Record<string, string>> {
  return text === "" ? {} : (JSON.parse(text) as Record<string, string>);
}

/** A team as one person sees it. */
export interface TeamAccess {
  readonly team: Team;
  /** Undefined for people who are no members. */
  readonly role: TeamRole | undefined;
}

/** Returns the team and the role that a person has in it now. */
export async function findTeamAccess(db: Db, teamId: number, userId: number): Promise<TeamAccess | undefined> {
  const row = await selectTeams(db)
    .leftJoin("team_members as m", (on) => on.onRef("m.team_id", "=", "teams.id").on("m.user_id", "=", userId))
    .select("m.role as own_role")
    .where("teams.id", "=", teamId)
    .executeTakeFirst();
  if (!row) return undefined;
  return { team: toTeam(row), role: (row.own_role ?? undefined) as TeamRole | undefined };
}

/** Locks a team until the transaction ends and counts the change; returns false if it does not exist. */
export async function lockTeam(trx: Db, teamId: number): Promise<boolean> {
  const touched = trx.updateTable("teams").set((eb) => ({ version: eb("version", "+", 1) }));
  const { numUpdatedRows } = await touched.where("id", "=", teamId).executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Returns the number of rows of a table that belong to each of the teams. */
export async function countByTeam(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("team_members")
    .select(["team_id", sql<number>`count(*)`.as("members")])
    .where("team_id", "in", ids)
    .groupBy("team_id")
    .execute();
  return new Map(rows.map(({ team_id, members }) => [team_id, Number(members)]));
}
