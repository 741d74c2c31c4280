import {
  teamInvitationCreate,
  teamInvitationDelete,
  teamInvitationList,
  teamJoin,
  type OptionValues,
  type TeamRole,
} from "@fairway/wire";
import type { Transaction } from "kysely";
import { recordEvent } from "../../events/record-event.ts";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { parseEmail } from "../../identity/mail/email-address.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { transact } from "../../storage/transaction.ts";
import { createInvitation, listInvitations, revokeInvitation, useInvitation } from "../../teams/invitations.ts";
import { addMember } from "../../teams/members.ts";
import { lockTeam, selectTeams, toTeam, type Team } from "../../teams/team.ts";
import { requireTeam } from "./require-team.ts";
import type { TeamStore } from "./store.ts";

export interface InvitationDeps {
  readonly store: TeamStore;
  readonly clock: Clock;
  readonly options: () => OptionValues;
  readonly publicUrl: string | undefined;
}

const WEEK = 604_800;

export function teamInvitationRoutes(deps: InvitationDeps): Route[] {
  const { store, clock } = deps;
  return [
    implement(teamInvitationList, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      const rows = await listInvitations(store.db, team.id, seconds(clock));
      return rows.map((row) => ({ ...row, email: row.email ?? "", role: row.role as TeamRole }));
    }),
    implement(teamInvitationCreate, async (call) => {
      const { body, caller } = call;
      const { team } = await requireTeam(store.db, call, "manage");
      const email = body.email === undefined || body.email === "" ? undefined : parseEmail(body.email);
      if (body.email !== undefined && body.email !== "" && email === undefined)
        throw new Refusal("email_invalid", { field: "email" });
      const now = seconds(clock);
      const terms = { role: body.role, maxUses: body.max_uses ?? 1, expiresAt: now + (body.expires_in ?? WEEK) };
      const made = { teamId: team.id, email, createdBy: caller.userId, now, ...terms };
      const { id, code } = await transact(store.db, async (trx) => {
        const stored = await createInvitation(trx, made);
        await recordInvitation(trx, team, { id: stored.id, ...terms, by: caller.username, atMs: clock.now() });
        return stored;
      });
      return { id, code, link: `${resolveAddress(deps)}/team/join?code=${code}` };
    }),
    implement(teamInvitationDelete, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      const invitation = { id: call.params.iid, now: seconds(clock) };
      if (!(await revokeInvitation(store.db, team.id, invitation))) throw new Refusal("team_invitation_invalid");
    }),
    implement(teamJoin, ({ body, caller }) => join(deps, caller, body.code)),
  ];
}

interface SentInvitation {
  readonly id: number;
  readonly role: TeamRole;
  readonly expiresAt: number;
  /** Name of the caller. */
  readonly by: string;
  readonly atMs: number;
}

/** The event has no address and no link: it goes to everyone who hears the events of the team. */
function recordInvitation(
  trx: Transaction<Schema>,
  { id: teamId, accountId, name, slug }: Team,
  { id, role, expiresAt, by, atMs }: SentInvitation,
): Promise<void> {
  return recordEvent(trx, {
    type: "team.invited",
    atMs,
    accountId,
    teamId,
    dedupKey: `team.invited:${id}`,
    data: { id: teamId, name, slug, role, by, expires_at: expiresAt },
  });
}

function resolveAddress({ publicUrl, options }: InvitationDeps): string {
  return (publicUrl ?? options().ServerAddress).replace(/\/+$/, "");
}

async function join({ store, clock, options }: InvitationDeps, caller: Principal, code: string) {
  if (!options().TeamsEnabled) throw new Refusal("team_invitation_invalid", { field: "code" });
  const nowMs = clock.now();
  return store.write(0, async (trx) => {
    const used = await useInvitation(trx, code.trim(), Math.floor(nowMs / 1000));
    await lockTeam(trx, used.teamId);
    const row = await selectTeams(trx).where("teams.id", "=", used.teamId).executeTakeFirst();
    if (!row || row.deleted_at !== null) throw new Refusal("team_invitation_invalid", { field: "code" });
    if (used.email !== null) await checkAddress(trx, caller.userId, used.email);
    const { role, createdBy: addedBy } = used;
    await addMember(trx, toTeam(row), { userId: caller.userId, role, source: "link", addedBy, nowMs });
    return { id: row.id, slug: row.slug, name: row.name, role };
  });
}

/** An account without an address gets the one of the invitation, because its mail proves it. */
async function checkAddress(trx: Transaction<Schema>, userId: number, email: string): Promise<void> {
  const person = await trx.selectFrom("users").select("email").where("id", "=", userId).executeTakeFirstOrThrow();
  if (person.email === email) return;
  if (person.email !== null && person.email !== "")
    throw new Refusal("team_invitation_other_address", { field: "code" });
  try {
    await trx.updateTable("users").set({ email }).where("id", "=", userId).execute();
  } catch (cause) {
    throw isDuplicate(cause) ? new Refusal("email_taken", { field: "code", cause }) : cause;
  }
}
