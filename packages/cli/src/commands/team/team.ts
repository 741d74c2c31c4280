import {
  TEAM_STATUS,
  teamGet,
  teamList,
  formatTime,
  type Client,
  type TeamSummary,
  type TeamView,
} from "@fairway/wire";
import { formatTagLimits } from "../../core/tag-limits.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { isForPeople, printOne, type Output, type Shape } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import { printPart, type Part } from "../paging.ts";

/** How teams are printed. */
export const TEAMS: Shape<TeamSummary> = {
  kind: "Team",
  columns: [
    number("ID", "id"),
    plain("TEAM", "slug"),
    plain("NAME", "name"),
    { title: "ROLE", field: "role", value: ({ role }) => (role === "" ? "-" : role) },
    { title: "STATUS", value: statusText },
    quota("LEFT", "quota"),
    quota("USED", "used_quota"),
    number("MEMBERS", "members"),
    number("KEYS", "keys"),
  ],
  wide: [
    plain("GROUP", "group"),
    { title: "LABELS", value: ({ labels }) => labelText(labels) },
    time("CREATED", "created_at"),
  ],
  name: ({ slug }) => `team/${slug}`,
};

function statusText({ status }: Pick<TeamSummary, "status">): string {
  return status === TEAM_STATUS.on ? "enabled" : "disabled";
}

function labelText(labels: TeamSummary["labels"]): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

export interface TeamListOptions extends Part {
  readonly search?: string;
  readonly label?: string;
  readonly mine?: boolean;
}

export async function listTeams(client: Client, options: TeamListOptions, output: Output): Promise<void> {
  const { search: keyword, label, mine, ...part } = options;
  const list = { ...TEAMS, toShown: (row: TeamSummary) => row, empty: "No teams." };
  await printPart(output, part, list, (page) => client.call(teamList, { query: { keyword, label, mine, ...page } }));
}

export async function getTeam(client: Client, id: number, output: Output): Promise<void> {
  const { data } = await client.call(teamGet, { params: { id } });
  await printTeam(output, data);
}

async function printTeam(output: Output, team: TeamView): Promise<void> {
  if (!isForPeople(output)) return printOne(output, team, { shape: TEAMS });
  const perUnit = await output.quotaPerUnit();
  const words = {
    id: String(team.id),
    team: team.slug,
    name: team.name,
    ...(team.description !== "" && { description: team.description }),
    role: team.role === "" ? "none" : team.role,
    status: team.deleted_at > 0 ? `deleted ${formatTime(team.deleted_at)}` : statusText(team),
    left: moneyText(team.quota, perUnit),
    used: moneyText(team.used_quota, perUnit),
    members: String(team.members),
    keys: String(team.keys),
    labels: labelText(team.labels) || "none",
    group: team.group,
    ...describeSettings(team),
    created: formatTime(team.created_at),
  };
  await printOne(output, team, { shape: TEAMS, words });
}

function describeSettings({ settings, group }: TeamView): Record<string, string> {
  const tagLimits = formatTagLimits(settings.tag_limits);
  return {
    groups: settings.groups.join(", ") || group,
    models: settings.models.join(", ") || "all",
    channels: settings.channels.join(", ") || "all",
    limits: limitText(settings.limits),
    "limits of a member": limitText(settings.member_limits),
    ...(tagLimits !== "" && { "limits by tag": tagLimits }),
    "who makes keys": settings.who_makes_keys,
    "who reads keys": settings.keys_visible === "admins" ? "their makers and admins" : "their makers",
    "keys of a member": `${settings.max_keys_per_member} at most`,
    "life of a key": settings.max_key_days === 0 ? "without end" : `${settings.max_key_days} days at most`,
    "when a member leaves": settings.on_leave === "transfer" ? "the team keeps the keys" : "the keys are disabled",
  };
}

function limitText(limits: TeamView["settings"]["limits"]): string {
  const named = Object.entries(limits ?? {}).map(([name, value]) => `${name} ${String(value)}`);
  return named.join(", ") || "none of its own";
}
