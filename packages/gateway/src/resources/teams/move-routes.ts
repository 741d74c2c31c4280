import { ACCOUNT_KIND, ROLE, splitList, tokenMove, type OptionValues } from "@fairway/wire";
import type { Transaction } from "kysely";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { canChange } from "../../identity/accounts/roles.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { findRole } from "../../teams/members.ts";
import { findTeamAccess, type Team } from "../../teams/team.ts";
import { createBudgetSpread, type SpreadDeps } from "../budgets/spread.ts";
import type { Vault } from "../ports.ts";
import { countTokens } from "../tokens/token-rows.ts";
import { checkKeyCount, checkLife } from "./key-rules.ts";
import { checkGroup, checkNotWider, readPersonRights, readTeamRights, type OwnerRights } from "./move-rights.ts";
import { moveToken } from "./move-token.ts";
import { mayInTeam } from "./require-team.ts";
import type { TeamStore } from "./store.ts";

export interface MoveRouteDeps extends SpreadDeps {
  readonly store: TeamStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, "claimed" | "flush">;
  readonly tokens: { dropToken(tokenId: number): void };
  readonly options: () => OptionValues;
  readonly maxUserTokens: number;
}

/** An account that has a key, or gets it. */
interface Owner {
  readonly accountId: number;
  readonly rights: OwnerRights;
  /** Undefined = a person. */
  readonly team: Team | undefined;
}

/** The route that gives a key to another owner. */
export function tokenMoveRoute(deps: MoveRouteDeps): Route {
  const { store, ledger, tokens, clock } = deps;
  return implement(tokenMove, async ({ params: { id }, body, caller, context }) => {
    const source = await findSource(deps, caller, id);
    const target = await findTarget(deps, caller, body);
    context.audit = { to: target.team ? `team ${target.team.slug}` : `user ${target.accountId}` };
    if (source.accountId === target.accountId) throw wrongTarget("is the owner of the key already");
    const holder = await findHolder(deps, caller, { source, target, tokenId: id });
    // Charges that are accepted count before the limit of the key is divided.
    await ledger.flush();
    const moved = await store.write(target.accountId, (trx) =>
      moveToken(
        trx,
        {
          id,
          from: source.accountId,
          to: target.accountId,
          memberId: holder,
          async check(row, inside) {
            const models = row.model_limits_enabled === 1 ? splitList(row.model_limits) : [];
            const key = { group: row.group, models };
            checkGroup(key, target.rights);
            if (caller.role < ROLE.admin) checkNotWider(key, source.rights, target.rights);
            await checkRoom(deps, target, { expiry: row.expired_time, holder, trx: inside });
          },
        },
        { kind: store.kind, vault: deps.vault, ledger, now: seconds(clock), by: caller.username },
      ),
    );
    tokens.dropToken(id);
    if (moved.hasBudgets) await createBudgetSpread(deps).spread();
    const { remainQuota: remain_quota, held } = moved;
    return { id: moved.id, team_id: target.team?.id ?? 0, user_id: target.accountId, remain_quota, held };
  });
}

function wrongTarget(reason: string): Refusal {
  return new Refusal("invalid_field", { field: "user_id", values: { field: "team_id or user_id", reason } });
}

/** Own keys are the caller's to give away; those of a team are for its owners. Administrators may give any. */
async function findSource(deps: MoveRouteDeps, caller: Principal, id: number): Promise<Owner> {
  const { db } = deps.store;
  const token = await db
    .selectFrom("tokens")
    .innerJoin("users", "users.id", "tokens.user_id")
    .select(["tokens.user_id", "users.kind", "users.role", "users.group"])
    .where("tokens.id", "=", id)
    .where("tokens.deleted_at", "is", null)
    .executeTakeFirst();
  if (!token) throw new Refusal("token_not_found");
  const { user_id: accountId } = token;
  if (token.kind === ACCOUNT_KIND.person) {
    const isOwn = accountId === caller.userId;
    if (!isOwn && caller.role < ROLE.admin) throw new Refusal("token_not_found");
    if (!isOwn && !canChange(caller, { id: accountId, role: token.role }))
      throw new Refusal("user_change_not_permitted");
    return { accountId, rights: readPersonRights(token.group, deps.options()), team: undefined };
  }
  const { id: teamId } = await db
    .selectFrom("teams")
    .select("id")
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  const access = await findTeamAccess(db, teamId, caller.userId);
  if (!access || (access.role === undefined && caller.role < ROLE.admin)) throw new Refusal("token_not_found");
  if (access.role !== "owner" && caller.role < ROLE.admin) throw new Refusal("team_right_missing");
  return { accountId, rights: readTeamRights(access.team), team: access.team };
}

interface Wanted {
  readonly team_id?: number | undefined;
  readonly user_id?: number | undefined;
}

async function findTarget(deps: MoveRouteDeps, caller: Principal, wanted: Wanted): Promise<Owner> {
  const { team_id: teamId, user_id: userId } = wanted;
  if (teamId !== undefined && userId === undefined) return findTargetTeam(deps, caller, teamId);
  if (userId === undefined || teamId !== undefined) throw wrongTarget("name one of them");
  const { db } = deps.store;
  const people = db.selectFrom("users").select(["id", "role", "group"]).where("kind", "=", ACCOUNT_KIND.person);
  const person = await people.where("id", "=", userId).where("deleted_at", "is", null).executeTakeFirst();
  const isOwn = userId === caller.userId;
  if (!person || (!isOwn && caller.role < ROLE.admin)) throw new Refusal("user_not_found");
  if (!isOwn && !canChange(caller, person)) throw new Refusal("user_change_not_permitted");
  return { accountId: person.id, rights: readPersonRights(person.group, deps.options()), team: undefined };
}

async function findTargetTeam({ store }: MoveRouteDeps, caller: Principal, teamId: number): Promise<Owner> {
  const access = await findTeamAccess(store.db, teamId, caller.userId);
  const isOperator = caller.role >= ROLE.admin;
  if (!access || access.team.deletedAt !== null || (access.role === undefined && !isOperator))
    throw new Refusal("team_not_found");
  if (!isOperator && !mayInTeam(access, caller, "useKeys")) throw new Refusal("team_right_missing");
  return { accountId: access.team.accountId, rights: readTeamRights(access.team), team: access.team };
}

interface Transferred {
  readonly source: Owner;
  readonly target: Owner;
  readonly tokenId: number;
}

/** In a team, the person who held the key holds it on as a member; otherwise a member who moves it does. */
async function findHolder(
  { store: { db } }: MoveRouteDeps,
  caller: Principal,
  { source, target, tokenId }: Transferred,
): Promise<number> {
  if (!target.team) return 0;
  const token = await db.selectFrom("tokens").select("member_id").where("id", "=", tokenId).executeTakeFirst();
  const before = source.team ? (token?.member_id ?? 0) : source.accountId;
  for (const person of [before, caller.userId]) {
    if (person !== 0 && (await findRole(db, target.team.id, person)) !== undefined) return person;
  }
  return 0;
}

interface Arrival {
  readonly expiry: number;
  readonly holder: number;
  readonly trx: Transaction<Schema>;
}

/** Throws a refusal if the new owner may not have one more key, or none that works for as long. */
async function checkRoom(
  { maxUserTokens: most, clock }: MoveRouteDeps,
  { accountId, team }: Owner,
  { expiry, holder, trx }: Arrival,
): Promise<void> {
  if ((await countTokens(trx, accountId)) >= most) throw new Refusal("too_many_tokens", { values: { n: most } });
  if (!team) return;
  checkLife(team, expiry, seconds(clock));
  if (holder !== 0) await checkKeyCount(trx, team, holder);
}
