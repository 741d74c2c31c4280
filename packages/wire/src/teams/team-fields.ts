import * as z from "zod/mini";
import { TeamSettingsView } from "./team-settings.ts";

export const TEAM_STATUS = { on: 1, off: 2 } as const;

/** Roles in a team, most rights first. */
export const TEAM_ROLES = ["owner", "admin", "member", "viewer"] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];
export const TeamRoleField = z.enum(TEAM_ROLES);

/** Most teams of the installation, and most teams of one person, members of one team and labels of one team. */
export const MAX_TEAMS = 100_000;
export const MAX_TEAMS_PER_PERSON = 100;
export const MAX_TEAM_MEMBERS = 10_000;
const MAX_LABELS = 8;

export const TeamName = z.string().check(z.trim(), z.minLength(1), z.maxLength(64), z.regex(/^[^\p{Cc}\p{Cf}]+$/u));
export const TeamDescription = z.string().check(z.maxLength(255));
const labelText = z.string().check(z.minLength(1), z.maxLength(64), z.regex(/^[^\p{Cc}\p{Cf}]+$/u));
export const TeamLabels = z
  .record(labelText, labelText)
  .check(z.refine((labels) => Object.keys(labels).length <= MAX_LABELS));

const summary = {
  id: z.int(),
  slug: z.string(),
  name: z.string(),
  /** The caller's role in the team; "" = none. */
  role: z.string(),
  /** 1 = on, 2 = off. */
  status: z.int(),
  /** Group of the wallet. */
  group: z.string(),
  /** Balance in quota units. */
  quota: z.int(),
  used_quota: z.int(),
  /** Number of members. */
  members: z.int(),
  /** Number of keys. */
  keys: z.int(),
  /** Label -> value, such as a cost centre. */
  labels: z.record(z.string(), z.string()),
  created_at: z.int(),
};

/** A team in a list. */
export const TeamSummary = z.object(summary);
export type TeamSummary = z.output<typeof TeamSummary>;

/** A team with its settings. */
export const TeamView = z.object({
  ...summary,
  description: z.string(),
  settings: TeamSettingsView,
  created_by: z.int(),
  /** Epoch seconds; 0 = it is not deleted. */
  deleted_at: z.int(),
  /** Id of the wallet, by which log rows and budgets name the team. */
  account_id: z.int(),
});
export type TeamView = z.output<typeof TeamView>;
