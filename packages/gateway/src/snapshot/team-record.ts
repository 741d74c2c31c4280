import { DEFAULT_TEAM_SETTINGS, readTeamSettings, USER_STATUS } from "@fairway/wire";
import type { TeamRecord } from "./types.ts";

/** Columns of the team of a token; the joins find nothing for keys of persons. */
export const TEAM_COLUMNS = `g.id as team_id, g.name as team_name, g.slug as team_slug, g.status as team_status,
  g.deleted_at as team_deleted_at, g.settings as team_settings, m.user_id as membership, maker.username as maker_name,
  maker.status as maker_status, maker.deleted_at as maker_deleted_at, s.name as service_name,
  s.status as service_status, s.deleted_at as service_deleted_at`;

export const TEAM_JOINS = `left join teams g on g.account_id = t.user_id
  left join team_members m on m.team_id = g.id and m.user_id = t.member_id
  left join users maker on maker.id = t.member_id
  left join service_accounts s on s.id = t.service_account_id and s.team_id = g.id`;

export interface TeamRow {
  readonly member_id: number;
  readonly service_account_id: number;
  readonly team_id: number | null;
  readonly team_name: string | null;
  readonly team_slug: string | null;
  readonly team_status: number | null;
  readonly team_deleted_at: number | null;
  readonly team_settings: string | null;
  readonly membership: number | null;
  readonly maker_name: string | null;
  readonly maker_status: number | null;
  readonly maker_deleted_at: number | null;
  readonly service_name: string | null;
  readonly service_status: number | null;
  readonly service_deleted_at: number | null;
}

const ON = 1;

/** Returns the team of a token; undefined for keys of persons. */
export function toTeamRecord(row: TeamRow): TeamRecord | undefined {
  const { team_id: id, member_id: memberId, service_account_id: serviceId } = row;
  if (id === null) return undefined;
  const settings = readTeamSettings(row.team_settings ?? "");
  return Object.freeze({
    id,
    name: row.team_name ?? "",
    slug: row.team_slug ?? "",
    isActive: row.team_status === ON && row.team_deleted_at === null && settings !== undefined,
    settings: settings ?? DEFAULT_TEAM_SETTINGS,
    actor: formatActor(memberId, serviceId),
    actorName: (serviceId === 0 ? row.maker_name : row.service_name) ?? "",
    stoppedBy: findStop(row, settings?.on_leave === "transfer"),
  });
}

/** Returns the text that log rows have for a member or a service account; "" for neither. */
export function formatActor(memberId: number, serviceAccountId: number): string {
  if (serviceAccountId !== 0) return `s${serviceAccountId}`;
  return memberId === 0 ? "" : `u${memberId}`;
}

/** A key of a service account does not depend on the person who made it. */
function findStop(row: TeamRow, isTransferred: boolean): TeamRecord["stoppedBy"] {
  if (row.service_account_id !== 0)
    return row.service_status === ON && row.service_deleted_at === null ? undefined : "service_account";
  if (row.member_id === 0 || isTransferred) return undefined;
  const isWorking = row.maker_status === USER_STATUS.enabled && row.maker_deleted_at === null;
  return row.membership !== null && isWorking ? undefined : "maker";
}
