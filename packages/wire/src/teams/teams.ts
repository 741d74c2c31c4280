import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryFlag, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";
import { TeamSlug } from "../core/team-slug.ts";
import { TeamDescription, TeamLabels, TeamName, TeamSummary, TeamView } from "./team-fields.ts";
import { TeamSettingsInput } from "./team-settings.ts";

const GONE = ["team_not_found", "team_right_missing"] as const;

export const teamList = endpoint({
  name: "teamList",
  method: "GET",
  path: "/api/team/",
  access: "user",
  summary: "Lists teams by name: all of them for administrators, otherwise those of the caller.",
  query: z.object({
    ...pageFields,
    /** Part of the name or short name. */
    keyword: queryText,
    /** A label and its value, such as `cost_centre=4711`. */
    label: queryText,
    /** Only teams of the caller. */
    mine: queryFlag,
  }),
  data: z.array(TeamSummary),
});

const fields = {
  description: z.optional(TeamDescription),
  labels: z.optional(TeamLabels),
  settings: z.optional(TeamSettingsInput),
};

export const teamCreate = endpoint({
  name: "teamCreate",
  method: "POST",
  path: "/api/team/",
  access: "user",
  summary: "Creates a team with its wallet; the caller or the named person is its owner.",
  body: z.strictObject({
    name: TeamName,
    /** Short name in addresses and commands; absent: made from the name. */
    slug: z.optional(TeamSlug),
    /** A person; only administrators name another one. */
    owner_id: z.optional(z.int().check(z.minimum(1))),
    ...fields,
  }),
  data: TeamView,
  fails: [
    "team_creation_not_allowed",
    "team_slug_taken",
    "team_limit_reached",
    "team_setting_widens",
    "user_not_found",
    "invalid_field",
  ],
});

export const teamGet = endpoint({
  name: "teamGet",
  method: "GET",
  path: "/api/team/{id}",
  access: "user",
  summary: "Reads a team with its settings.",
  params: idParams,
  data: TeamView,
  fails: GONE,
});

export const teamUpdate = endpoint({
  name: "teamUpdate",
  method: "PUT",
  path: "/api/team/{id}",
  access: "user",
  summary:
    "Changes the named members of a team: admins settings that narrow, owners also the name, administrators of the installation everything.",
  params: idParams,
  body: z.strictObject({
    name: z.optional(TeamName),
    /** 1 = on, 2 = off: every key of the team is refused. */
    status: z.optional(z.int().check(z.minimum(1), z.maximum(2))),
    /** Group of the wallet. */
    group: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
    ...fields,
  }),
  data: TeamView,
  fails: [...GONE, "entity_changed", "team_setting_widens", "invalid_field"],
});

export const teamDelete = endpoint({
  name: "teamDelete",
  method: "DELETE",
  path: "/api/team/{id}",
  access: "user",
  summary: "Deletes a team: its keys stop at once. The answer names the balance that stays on the wallet.",
  params: idParams,
  /** The short name of the team. */
  query: z.object({ confirm: queryText }),
  data: z.object({ quota: z.int() }),
  fails: [...GONE, "team_confirmation_missing"],
});

export const teamRestore = endpoint({
  name: "teamRestore",
  method: "POST",
  path: "/api/team/{id}/restore",
  access: "user",
  summary: "Restores a deleted team with its members and keys; for administrators, within TeamRestoreDays.",
  params: idParams,
  data: TeamView,
  fails: [...GONE, "team_not_restorable"],
});

const amount = z.int().check(z.minimum(1));

export const teamTransfer = endpoint({
  name: "teamTransfer",
  method: "POST",
  path: "/api/team/{id}/transfer",
  access: "user",
  rate: "critical",
  summary: "Moves an amount from the caller's balance to the wallet of the team. Takes an Idempotency-Key.",
  params: idParams,
  /** Quota units. */
  body: z.strictObject({ quota: amount }),
  /** The balance of the team after it. */
  data: z.object({ quota: z.int() }),
  fails: [...GONE, "team_quota_insufficient", "idempotency_key_invalid", "idempotency_key_reused", "quota_invalid"],
});

export const teamAdjust = endpoint({
  name: "teamAdjust",
  method: "POST",
  path: "/api/team/{id}/adjust",
  access: "user",
  summary: "Changes the balance of the wallet by an amount; for administrators. Takes an Idempotency-Key.",
  params: idParams,
  body: z.strictObject({
    /** Quota units, negative to take. */
    quota: z.int(),
    note: z.optional(z.string().check(z.maxLength(255))),
  }),
  /** The balance of the team after it. */
  data: z.object({ quota: z.int() }),
  fails: [...GONE, "quota_invalid", "idempotency_key_invalid", "idempotency_key_reused"],
});
