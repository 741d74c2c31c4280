import {
  teamInvitationCreate,
  teamInvitationDelete,
  teamInvitationList,
  teamMemberAdd,
  teamMemberDelete,
  teamMemberList,
  teamMemberUpdate,
  type Input,
  type Output,
  type TeamRole,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../lib/http.ts";
import { queryKeys } from "../../../lib/query-keys.ts";
import { andRefresh } from "../api.ts";

export function membersQuery(team: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(team, "members"),
    queryFn: ({ signal }) => call(teamMemberList, { params: { id: team }, signal }),
  });
}

/** Invitations that can still be used. */
export function invitationsQuery(team: number) {
  return queryOptions({
    queryKey: queryKeys.teams.inside(team, "invitations"),
    queryFn: ({ signal }) => call(teamInvitationList, { params: { id: team }, signal }),
  });
}

export function addMember(team: number, username: string, role: TeamRole): Promise<unknown> {
  return andRefresh(call(teamMemberAdd, { params: { id: team }, body: { username, role } }));
}

export function changeMemberRole(team: number, user: number, role: TeamRole): Promise<unknown> {
  return andRefresh(call(teamMemberUpdate, { params: { id: team, uid: user }, body: { role } }));
}

export function removeMember(team: number, user: number): Promise<unknown> {
  return andRefresh(call(teamMemberDelete, { params: { id: team, uid: user } }));
}

export type InvitationInput = Input<typeof teamInvitationCreate.body>;
export type MadeInvitation = Output<typeof teamInvitationCreate.data>;

export function invite(team: number, body: InvitationInput): Promise<MadeInvitation> {
  return andRefresh(call(teamInvitationCreate, { params: { id: team }, body }));
}

export function revokeInvitation(team: number, invitation: number): Promise<unknown> {
  return andRefresh(call(teamInvitationDelete, { params: { id: team, iid: invitation } }));
}
