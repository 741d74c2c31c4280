import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { pathId } from "../core/envelope.ts";
import { TeamSlug } from "../core/team-slug.ts";
import { TeamName, TeamView } from "./team-fields.ts";

/**
 * What a person still has, so that the account cannot become the wallet of a team:
 *
 * - `role`: rights of an administrator
 * - `sign_in`: a password, an e-mail address, a second factor, a passkey or a linked service
 * - `sessions`: open sessions
 * - `access_tokens`: access tokens for the management API
 * - `memberships`: memberships in teams
 * - `documents`: documents that describe the account or its tokens
 * - `earnings`: invitation earnings that are not moved to the balance
 */
export const CONVERSION_BLOCKS = [
  "role",
  "sign_in",
  "sessions",
  "access_tokens",
  "memberships",
  "documents",
  "earnings",
] as const;
export type ConversionBlock = (typeof CONVERSION_BLOCKS)[number];

const amount = z.int();

/** What a conversion does to an account. */
export const ConversionPlan = z.object({
  user_id: z.int(),
  username: z.string(),
  /** The balance, which stays on the account: it becomes the wallet. */
  quota: amount,
  used_quota: amount,
  /** Reserved by running calls, which end normally and are paid from the same balance. */
  held: amount,
  group: z.string(),
  /** Groups that keys of the team may use: the own one, and those that its keys name. */
  groups: z.array(z.string()),
  /** Keys that belong to the team afterwards. */
  keys: z.int(),
  /** Budgets of the person that become budgets of the team. */
  budgets: z.int(),
  /** Event endpoints of the person that become endpoints of the team. */
  webhooks: z.int(),
  /** Why the account cannot be converted; empty = it can. */
  blocks: z.array(z.enum(CONVERSION_BLOCKS)),
});
export type ConversionPlan = z.output<typeof ConversionPlan>;

export const teamConversion = endpoint({
  name: "teamConversion",
  method: "GET",
  path: "/api/team/convert/{user_id}",
  access: "root",
  summary: "Says what would become of an account that is converted into a team, and what prevents it. Changes nothing.",
  params: z.object({ user_id: pathId }),
  data: ConversionPlan,
  fails: ["user_not_found"],
});

export const teamConvert = endpoint({
  name: "teamConvert",
  method: "POST",
  path: "/api/team/convert",
  access: "root",
  summary:
    "Converts an account without sign-in into a team: balance, keys, log and history stay, its budgets become those of the team.",
  body: z.strictObject({
    user_id: z.int().check(z.minimum(1)),
    /** Absent: the name of the account. */
    name: z.optional(TeamName),
    /** Short name in addresses and commands; absent: made from the name. */
    slug: z.optional(TeamSlug),
    /** A person; absent: the caller. */
    owner_id: z.optional(z.int().check(z.minimum(1))),
  }),
  data: TeamView,
  fails: ["user_not_found", "account_not_convertible", "team_slug_taken", "team_limit_reached", "invalid_field"],
});
