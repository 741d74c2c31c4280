import {
  INSTALLATION_TEAM,
  operatorAccountCreate,
  operatorAccountDelete,
  operatorAccountList,
  operatorAccountUpdate,
  operatorTokenCreate,
  operatorTokenDelete,
  operatorTokenList,
  type ServiceAccount,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { lockUser, transact } from "../../storage/transaction.ts";
import {
  createServiceAccount,
  createServiceToken,
  deleteServiceAccount,
  deleteServiceToken,
  listServiceTokens,
  readServiceAccounts,
  requireServiceAccount,
  updateServiceAccount,
} from "../../teams/service-accounts.ts";
import { describeToken, readTokenTerms } from "../teams/service-account-routes.ts";

export interface OperatorAccountDeps {
  readonly database: Database;
  readonly clock: Clock;
}

const toPlace = (id: number) => ({ teamId: INSTALLATION_TEAM, id });

/** The routes of the service accounts that belong to no team: programs that act as administrators. */
export function operatorAccountRoutes(deps: OperatorAccountDeps): Route[] {
  const { clock } = deps;
  const { db } = deps.database;
  return [
    implement(operatorAccountList, () => readServiceAccounts(db, INSTALLATION_TEAM, { now: seconds(clock) })),
    implement(operatorAccountCreate, async ({ body, caller }) => {
      const { name, description = "" } = body;
      const account = { teamId: INSTALLATION_TEAM, name, description, createdBy: caller.userId, now: seconds(clock) };
      const id = await transact(db, async (trx) => {
        await lockUser(trx, caller.userId);
        return createServiceAccount(trx, account);
      });
      return readOne(deps, id);
    }),
    implement(operatorAccountUpdate, async ({ params, body }) => {
      await transact(db, (trx) => updateServiceAccount(trx, toPlace(params.id), body));
      return readOne(deps, params.id);
    }),
    implement(operatorAccountDelete, ({ params }) =>
      transact(db, (trx) => deleteServiceAccount(trx, toPlace(params.id), seconds(clock))),
    ),
    ...operatorTokenRoutes(deps),
  ];
}

function operatorTokenRoutes({ database: { db }, clock }: OperatorAccountDeps): Route[] {
  return [
    implement(operatorTokenList, async ({ params }) => {
      await requireServiceAccount(db, toPlace(params.id));
      return listServiceTokens(db, params.id, seconds(clock));
    }),
    implement(operatorTokenCreate, async ({ params, body, caller, context }) => {
      context.audit = describeToken(body);
      const terms = readTokenTerms(body, { caller, now: seconds(clock) });
      const { id, text } = await transact(db, (trx) => createServiceToken(trx, toPlace(params.id), terms));
      return { id, token: text, expires_at: terms.expiresAt };
    }),
    implement(operatorTokenDelete, async ({ params }) => {
      await requireServiceAccount(db, toPlace(params.id));
      await deleteServiceToken(db, params.id, params.aid);
    }),
  ];
}

async function readOne({ database, clock }: OperatorAccountDeps, id: number): Promise<ServiceAccount> {
  const [found] = await readServiceAccounts(database.db, INSTALLATION_TEAM, { id, now: seconds(clock) });
  if (!found) throw new Refusal("service_account_not_found");
  return found;
}
