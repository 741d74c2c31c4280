import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, pathId } from "../core/envelope.ts";
import { TeamRoleField } from "./team-fields.ts";

const GONE = ["team_not_found", "team_right_missing"] as const;
const MAX_INVITATION_SECONDS = 2_592_000;
const MAX_INVITATION_USES = 1_000;

/** A member as all members see it. */
export const TeamMember = z.object({
  user_id: z.int(),
  username: z.string(),
  display_name: z.string(),
  /** Status of the person's account. */
  status: z.int(),
  role: TeamRoleField,
  /** How the person became a member: `manual`, `link`, `import`, or an identity provider. */
  source: z.string(),
  created_at: z.int(),
});
export type TeamMember = z.output<typeof TeamMember>;

export const teamMemberList = endpoint({
  name: "teamMemberList",
  method: "GET",
  path: "/api/team/{id}/members",
  access: "user",
  summary: "Lists the members of a team, the longest-serving first.",
  params: idParams,
  data: z.array(TeamMember),
  fails: GONE,
});

export const teamMemberAdd = endpoint({
  name: "teamMemberAdd",
  method: "POST",
  path: "/api/team/{id}/members",
  access: "user",
  summary: "Makes a person a member without an invitation; for administrators of the installation.",
  params: idParams,
  body: z.strictObject({
    /** The person, by id or by name. */
    user_id: z.optional(z.int().check(z.minimum(1))),
    username: z.optional(z.string()),
    role: TeamRoleField,
  }),
  fails: [...GONE, "user_not_found", "team_member_exists", "team_limit_reached"],
});

const memberParams = z.object({ id: pathId, uid: pathId });

export const teamMemberUpdate = endpoint({
  name: "teamMemberUpdate",
  method: "PUT",
  path: "/api/team/{id}/members/{uid}",
  access: "user",
  summary: "Changes the role of a member; only owners make and end owners.",
  params: memberParams,
  body: z.strictObject({ role: TeamRoleField }),
  fails: [...GONE, "team_member_not_found", "team_last_owner"],
});

export const teamMemberDelete = endpoint({
  name: "teamMemberDelete",
  method: "DELETE",
  path: "/api/team/{id}/members/{uid}",
  access: "user",
  summary: "Removes a member; the keys that the member made are disabled or given to the team.",
  params: memberParams,
  fails: [...GONE, "team_member_not_found", "team_last_owner"],
});

export const teamLeave = endpoint({
  name: "teamLeave",
  method: "POST",
  path: "/api/team/{id}/leave",
  access: "user",
  summary: "Ends the caller's own membership.",
  params: idParams,
  fails: [...GONE, "team_member_not_found", "team_last_owner"],
});

export const TeamInvitation = z.object({
  id: z.int(),
  /** "" = a link that anyone can use. */
  email: z.string(),
  role: TeamRoleField,
  max_uses: z.int(),
  uses: z.int(),
  expires_at: z.int(),
  created_by: z.int(),
  created_at: z.int(),
});
export type TeamInvitation = z.output<typeof TeamInvitation>;

export const teamInvitationList = endpoint({
  name: "teamInvitationList",
  method: "GET",
  path: "/api/team/{id}/invitations",
  access: "user",
  summary: "Lists invitations that can still be used, newest first.",
  params: idParams,
  data: z.array(TeamInvitation),
  fails: GONE,
});

export const teamInvitationCreate = endpoint({
  name: "teamInvitationCreate",
  method: "POST",
  path: "/api/team/{id}/invitations",
  access: "user",
  summary: "Makes an invitation; the answer alone has its code and link.",
  params: idParams,
  body: z.strictObject({
    /** Only the person with this address may use it; absent = anyone with the link. */
    email: z.optional(z.string()),
    role: z.enum(["admin", "member", "viewer"]),
    /** Seconds; absent = a week. */
    expires_in: z.optional(z.int().check(z.minimum(60), z.maximum(MAX_INVITATION_SECONDS))),
    /** Absent = once. */
    max_uses: z.optional(z.int().check(z.minimum(1), z.maximum(MAX_INVITATION_USES))),
  }),
  data: z.object({ id: z.int(), code: z.string(), link: z.string() }),
  fails: [...GONE, "email_invalid"],
});

export const teamInvitationDelete = endpoint({
  name: "teamInvitationDelete",
  method: "DELETE",
  path: "/api/team/{id}/invitations/{iid}",
  access: "user",
  summary: "Revokes an invitation.",
  params: z.object({ id: pathId, iid: pathId }),
  fails: [...GONE, "team_invitation_invalid"],
});

export const teamJoin = endpoint({
  name: "teamJoin",
  method: "POST",
  path: "/api/team/join",
  access: "user",
  rate: "critical",
  summary: "Makes the caller a member by the code of an invitation.",
  body: z.strictObject({ code: z.string().check(z.maxLength(128)) }),
  data: z.object({ id: z.int(), slug: z.string(), name: z.string(), role: TeamRoleField }),
  fails: [
    "team_invitation_invalid",
    "team_invitation_other_address",
    "team_member_exists",
    "team_limit_reached",
    "email_taken",
  ],
});
