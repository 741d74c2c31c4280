import { formatTeamSettings, MAX_TEAMS, TEAM_STATUS, type TeamSettings } from "@fairway/wire";
import type { Kysely, Updateable } from "kysely";
import { recordEvent } from "../events/record-event.ts";
import { Refusal } from "../lib/refusal.ts";
import { insertRow } from "../storage/inserts.ts";
import type { TeamTable } from "../storage/tables/schema-teams.ts";
import type { Schema } from "../storage/tables/schema.ts";
import { addMember } from "./members.ts";
import type { Team } from "./team.ts";
import { buildWalletRow, buildWalletKey, cutName } from "./wallet.ts";

type Db = Kysely<Schema>;

export interface NewTeam {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly settings: TeamSettings;
  /** Group of the wallet. */
  readonly group: string;
  /** Undefined = no one, as in an import. */
  readonly ownerId: number | undefined;
  readonly createdBy: number;
  readonly source: string;
  readonly nowMs: number;
}

/** Creates a team with its wallet and its owner; throws `team_slug_taken`. */
export async function createTeam(trx: Db, team: NewTeam): Promise<{ id: number; accountId: number }> {
  const { name, slug, ownerId, nowMs } = team;
  await checkSlug(trx, slug);
  await checkTeamCount(trx);
  const createdAt = Math.floor(nowMs / 1000);
  const accountId = await insertRow(trx, "users", buildWalletRow({ name, slug, group: team.group, createdAt }));
  const id = await insertTeam(trx, team, accountId);
  const member = { userId: ownerId ?? 0, role: "owner", source: team.source, addedBy: team.createdBy, nowMs } as const;
  if (ownerId !== undefined) await addMember(trx, { id, accountId, name, slug }, member);
  return { id, accountId };
}

/** Inserts the row of a team whose wallet exists. */
export function insertTeam(trx: Db, team: NewTeam, accountId: number): Promise<number> {
  return insertRow(trx, "teams", {
    account_id: accountId,
    name: team.name,
    slug: team.slug,
    description: team.description,
    labels: formatLabels(team.labels),
    settings: formatTeamSettings(team.settings),
    status: TEAM_STATUS.on,
    created_by: team.createdBy,
    created_at: Math.floor(team.nowMs / 1000),
    deleted_at: null,
    version: 1,
  });
}

/** Throws `team_slug_taken`; the slug of a deleted team stays taken, because its wallet does. */
export async function checkSlug(trx: Db, slug: string): Promise<void> {
  const taken = trx.selectFrom("users").select("id").where("username_key", "=", buildWalletKey(slug));
  if (await taken.executeTakeFirst()) throw new Refusal("team_slug_taken", { field: "slug" });
}

/** Throws `team_limit_reached`. */
export async function checkTeamCount(trx: Db): Promise<void> {
  const { count } = await trx
    .selectFrom("teams")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= MAX_TEAMS) throw new Refusal("team_limit_reached", { values: { n: MAX_TEAMS } });
}

export interface TeamChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly settings?: TeamSettings | undefined;
  readonly isOn?: boolean | undefined;
  /** Group of the wallet. */
  readonly group?: string | undefined;
}

/** Writes the named members; the wallet has the name too, for logs. */
export async function updateTeam(trx: Db, { id, accountId }: Team, change: TeamChange): Promise<void> {
  const { name, description, labels, settings, isOn, group } = change;
  const columns: Updateable<TeamTable> = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(labels !== undefined && { labels: formatLabels(labels) }),
    ...(settings !== undefined && { settings: formatTeamSettings(settings) }),
    ...(isOn !== undefined && { status: isOn ? TEAM_STATUS.on : TEAM_STATUS.off }),
  };
  if (Object.keys(columns).length > 0) await trx.updateTable("teams").set(columns).where("id", "=", id).execute();
  const wallet = {
    ...(name !== undefined && { username: cutName(name), display_name: cutName(name) }),
    ...(group !== undefined && { group }),
  };
  if (Object.keys(wallet).length > 0) await trx.updateTable("users").set(wallet).where("id", "=", accountId).execute();
}

/** Marks a team as deleted: its keys are refused at once, its money and its history stay. */
export async function deleteTeam(trx: Db, team: Team, nowMs: number): Promise<void> {
  const { id, name, slug, accountId } = team;
  await trx
    .updateTable("teams")
    .set({ deleted_at: Math.floor(nowMs / 1000) })
    .where("id", "=", id)
    .execute();
  await recordEvent(trx, {
    type: "team.deleted",
    atMs: nowMs,
    accountId,
    teamId: id,
    dedupKey: `team.deleted-${id}-${nowMs}`,
    data: { id, name, slug },
  });
}

export async function restoreTeam(trx: Db, { id }: Team): Promise<void> {
  await trx.updateTable("teams").set({ deleted_at: null }).where("id", "=", id).execute();
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels).length === 0 ? "" : JSON.stringify(labels);
}
