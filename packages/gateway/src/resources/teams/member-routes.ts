import {
  teamLeave,
  teamMemberAdd,
  teamMemberDelete,
  teamMemberList,
  teamMemberUpdate,
  type TeamRole,
} from "@fairway/wire";
import type { Kysely } from "kysely";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Vault } from "../ports.ts";
import type { UserStore } from "../users/store.ts";
import {
  addMember,
  changeRole,
  disableKeys,
  findRole,
  giveKeysToTeam,
  recordRotationDue,
  listMembers,
  removeMember,
  type RoleChange,
} from "../../teams/members.ts";
import { lockTeam, type TeamAccess } from "../../teams/team.ts";
import { mayInTeam, requireTeam } from "./require-team.ts";
import { replaceKeys } from "./replace-keys.ts";
import type { TeamStore } from "./store.ts";

export interface TeamMemberDeps {
  readonly store: TeamStore;
  readonly users: Pick<UserStore, "findByName">;
  readonly clock: Clock;
  readonly vault: Vault;
}

export function teamMemberRoutes(deps: TeamMemberDeps): Route[] {
  const { store, clock } = deps;
  return [
    implement(teamMemberList, async (call) => {
      const { team } = await requireTeam(store.db, call, "see");
      const rows = await listMembers(store.db, team.id);
      return rows.map((row) => ({ ...row, role: row.role as TeamRole }));
    }),
    implement(teamMemberAdd, async (call) => {
      const { body, caller, context } = call;
      const { team } = await requireTeam(store.db, call, "widen");
      const userId = body.user_id ?? (await findPerson(deps, body.username ?? ""));
      context.audit = { member: String(userId), role: body.role };
      await store.write(team.accountId, async (trx) => {
        await lockTeam(trx, team.id);
        const member = { userId, role: body.role, source: "manual", addedBy: caller.userId, nowMs: clock.now() };
        await addMember(trx, team, member);
      });
    }),
    implement(teamMemberUpdate, async (call) => {
      const { params, body, caller, context } = call;
      const access = await requireTeam(store.db, call, "manage");
      context.audit = { member: String(params.uid), role: body.role };
      await store.write(access.team.accountId, async (trx) => {
        await lockTeam(trx, access.team.id);
        await checkOwners(trx, access, { caller, userId: params.uid, role: body.role });
        const change = { ...toChange(access, caller, params.uid, clock), role: body.role };
        await changeRole(trx, access.team, change);
      });
    }),
    implement(teamMemberDelete, async (call) => {
      const { params, caller, context } = call;
      const access = await requireTeam(store.db, call, "manage");
      context.audit = { member: String(params.uid) };
      const change = toChange(access, caller, params.uid, clock);
      await endMembership(deps, access, { change, remover: caller });
    }),
    implement(teamLeave, async (call) => {
      const { caller } = call;
      const access = await requireTeam(store.db, call, "see");
      const change = { userId: caller.userId, mayEndOwner: false, nowMs: clock.now() };
      await endMembership(deps, access, { change });
    }),
  ];
}

function toChange(access: TeamAccess, caller: Principal, userId: number, clock: Clock): RoleChange {
  return { userId, mayEndOwner: mayInTeam(access, caller, "widen"), nowMs: clock.now() };
}

async function findPerson({ users }: TeamMemberDeps, username: string): Promise<number> {
  const user = await users.findByName(usernameKey(username.trim()));
  if (!user || user.deleted_at !== null) throw new Refusal("user_not_found", { field: "username" });
  return user.id;
}

interface OwnerCheck {
  readonly caller: Principal;
  readonly userId: number;
  readonly role?: TeamRole;
}

/** Only owners make and end owners. */
async function checkOwners(
  trx: Kysely<Schema>,
  access: TeamAccess,
  { caller, userId, role }: OwnerCheck,
): Promise<void> {
  if (mayInTeam(access, caller, "own")) return;
  const isOwner = (await findRole(trx, access.team.id, userId)) === "owner";
  if (isOwner || role === "owner") throw new Refusal("team_right_missing", { field: "role" });
}

interface MembershipEnd {
  readonly change: RoleChange;
  /** Absent if the person leaves by choice. */
  readonly remover?: Principal;
}

/**
 * Ends a membership with the keys of the member. Keys that a team keeps after a removal are replaced, so that no one
 * leaves with one that works; who leaves by choice is trusted until an admin replaces them.
 */
async function endMembership(
  { store, vault, clock }: TeamMemberDeps,
  access: TeamAccess,
  { change, remover }: MembershipEnd,
): Promise<void> {
  const { team } = access;
  await store.write(team.accountId, async (trx) => {
    await lockTeam(trx, team.id);
    if (remover) await checkOwners(trx, access, { caller: remover, userId: change.userId });
    await removeMember(trx, team, change);
    const { userId: memberId, nowMs } = change;
    if (team.settings.on_leave === "disable") return disableKeys(trx, { accountId: team.accountId, memberId, nowMs });
    const given = await giveKeysToTeam(trx, team.accountId, memberId);
    if (remover) await replaceKeys(trx, given, { kind: store.kind, vault, now: seconds(clock) });
    else await recordRotationDue(trx, given, nowMs);
  });
}
