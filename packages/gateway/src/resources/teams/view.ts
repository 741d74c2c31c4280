import { TEAM_STATUS, type TeamSummary, type TeamToken, type TeamView, type Token } from "@fairway/wire";
import { buildEtag } from "../../http/etag.ts";
import type { Team } from "../../teams/team.ts";

export interface TeamCounts {
  readonly members: number;
  readonly keys: number;
}

export function toSummary(team: Team, role: string, { members, keys }: TeamCounts): TeamSummary {
  return {
    id: team.id,
    slug: team.slug,
    name: team.name,
    role,
    status: team.isOn ? TEAM_STATUS.on : TEAM_STATUS.off,
    group: team.group,
    quota: team.quota,
    used_quota: team.usedQuota,
    members,
    keys,
    labels: { ...team.labels },
    created_at: team.createdAt,
  };
}

export function toView(team: Team, role: string, counts: TeamCounts): TeamView {
  const { groups, models, channels, limits, member_limits, ...rest } = team.settings;
  return {
    ...toSummary(team, role, counts),
    description: team.description,
    settings: {
      groups: [...groups],
      models: [...models],
      channels: [...channels],
      limits: { ...limits },
      member_limits: { ...member_limits },
      ...rest,
    },
    created_by: team.createdBy,
    deleted_at: team.deletedAt ?? 0,
    account_id: team.accountId,
  };
}

/** Returns a tag that changes with every edit of the team, its members and its keys' holders, but not with usage. */
export function teamTag({ id, version }: Pick<Team, "id" | "version">): string {
  return buildEtag({ id, version });
}

/** Who holds a key. */
export interface KeyHolder {
  readonly member: number;
  readonly memberName: string;
  readonly serviceAccount: number;
}

export function toTeamToken(token: Token, holder: KeyHolder, mayRead: boolean): TeamToken {
  return {
    ...token,
    key: mayRead ? token.key : "",
    member: holder.member,
    member_name: holder.memberName,
    service_account: holder.serviceAccount,
  };
}
