import {
  serviceAccountCreate,
  serviceAccountDelete,
  serviceAccountList,
  serviceAccountUpdate,
  serviceTokenCreate,
  serviceTokenDelete,
  serviceTokenList,
  type Output,
  type ServiceAccount,
} from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import {
  createServiceAccount,
  createServiceToken,
  deleteServiceAccount,
  deleteServiceToken,
  listServiceTokens,
  readServiceAccounts,
  requireServiceAccount,
  updateServiceAccount,
  type NewServiceToken,
} from "../../teams/service-accounts.ts";
import { lockTeam } from "../../teams/team.ts";
import { requireTeam } from "./require-team.ts";
import type { TeamStore } from "./store.ts";

export interface ServiceAccountDeps {
  readonly store: TeamStore;
  readonly clock: Clock;
}

/** The routes of service accounts, for admins of the team. */
export function serviceAccountRoutes(deps: ServiceAccountDeps): Route[] {
  const { store, clock } = deps;
  return [
    implement(serviceAccountList, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      return readServiceAccounts(store.db, team.id, { now: seconds(clock) });
    }),
    implement(serviceAccountCreate, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      const { name, description = "" } = call.body;
      const account = { teamId: team.id, name, description, createdBy: call.caller.userId, now: seconds(clock) };
      const id = await store.write(team.accountId, async (trx) => {
        await lockTeam(trx, team.id);
        return createServiceAccount(trx, account);
      });
      return readOne(deps, team.id, id);
    }),
    implement(serviceAccountUpdate, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      const place = { teamId: team.id, id: call.params.sid };
      await store.write(team.accountId, (trx) => updateServiceAccount(trx, place, call.body));
      return readOne(deps, team.id, place.id);
    }),
    implement(serviceAccountDelete, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      const place = { teamId: team.id, id: call.params.sid };
      await store.write(team.accountId, (trx) => deleteServiceAccount(trx, place, seconds(clock)));
    }),
    ...serviceTokenRoutes(deps),
  ];
}

function serviceTokenRoutes({ store, clock }: ServiceAccountDeps): Route[] {
  return [
    implement(serviceTokenList, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      await requireServiceAccount(store.db, { teamId: team.id, id: call.params.sid });
      return listServiceTokens(store.db, call.params.sid, seconds(clock));
    }),
    implement(serviceTokenCreate, async (call) => {
      const { caller, context } = call;
      const { team } = await requireTeam(store.db, call, "manage");
      context.audit = describeToken(call.body);
      const terms = readTokenTerms(call.body, { caller, now: seconds(clock) });
      const place = { teamId: team.id, id: call.params.sid };
      const { id, text } = await store.write(0, async (trx) => {
        await lockTeam(trx, team.id);
        return createServiceToken(trx, place, terms);
      });
      return { id, token: text, expires_at: terms.expiresAt };
    }),
    implement(serviceTokenDelete, async (call) => {
      const { team } = await requireTeam(store.db, call, "manage");
      await requireServiceAccount(store.db, { teamId: team.id, id: call.params.sid });
      await deleteServiceToken(store.db, call.params.sid, call.params.aid);
    }),
  ];
}

type TokenForm = Output<typeof serviceTokenCreate.body>;

/** Returns what the audit says of a new access token. */
export function describeToken({ name, scopes }: TokenForm): { readonly name: string; readonly scopes: string } {
  return { name, scopes: scopes.join(" ") };
}

export function readTokenTerms(
  { name, scopes, expires_in: span, grace_seconds: graceSeconds = 0 }: TokenForm,
  { caller, now }: { readonly caller: Principal; readonly now: number },
): NewServiceToken {
  const createdBy = caller.userId;
  return { name, scopes: [...new Set(scopes)], expiresAt: now + span, graceSeconds, createdBy, now };
}

async function readOne({ store, clock }: ServiceAccountDeps, teamId: number, id: number): Promise<ServiceAccount> {
  const [found] = await readServiceAccounts(store.db, teamId, { id, now: seconds(clock) });
  if (!found) throw new Refusal("service_account_not_found");
  return found;
}
