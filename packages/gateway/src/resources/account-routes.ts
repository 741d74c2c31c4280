import type { OptionDefaults } from "@fairway/wire";
import type { Ledger } from "../billing/ledger/ledger.ts";
import type { Route } from "../http/endpoint.ts";
import type { Identity } from "../identity/accounts/identity.ts";
import { createCredentialNotices } from "../identity/mail/credential-notices.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Secret } from "../lib/secret.ts";
import type { Logger } from "../observability/log.ts";
import type { SnapshotStore, TokenCache } from "../snapshot/types.ts";
import type { Database } from "../storage/database.ts";
import type { WriteLog } from "../storage/log-rows.ts";
import { authRoutes } from "./auth/routes.ts";
import { createAuthStore } from "./auth/store.ts";
import { createOffers } from "./identity-providers/offers.ts";
import { identityProviderRoutes } from "./identity-providers/routes.ts";
import { optionRoutes } from "./options/routes.ts";
import { createOptionStore } from "./options/store.ts";
import type { Announce, Vault } from "./ports.ts";
import { statusRoutes } from "./status/routes.ts";
import { setupRoutes, type SetupState } from "./status/setup-routes.ts";
import { userAdminRoutes } from "./users/admin-routes.ts";
import { confirmRoute } from "./users/confirm-route.ts";
import { userManageRoutes } from "./users/manage-route.ts";
import { selfRoutes } from "./users/self-routes.ts";
import { sessionRoutes } from "./users/session-routes.ts";
import { createUserStore } from "./users/store.ts";

export interface AccountRoutesDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Logger;
  readonly identity: Identity;
  readonly ledger: Ledger;
  readonly snapshots: Pick<SnapshotStore, "current">;
  readonly tokens: Pick<TokenCache, "dropUser">;
  readonly announce: Announce;
  readonly writeLog: WriteLog;
  /** Default texts of the price options, used if nothing is stored. */
  readonly optionDefaults: OptionDefaults;
  readonly setupState: SetupState;
  readonly version: string;
  readonly publicUrl: string | undefined;
  readonly setupToken: Secret | undefined;
  readonly firstRetries: number;
  /** True if every account gets a token when it registers. */
  readonly givesToken: boolean;
  /** Registers work that outlives its call; the server awaits it when it stops. */
  readonly background: (work: Promise<void>) => void;
}

/** Creates what the routes of accounts and the directories of companies share. */
export function createAccountParts(deps: AccountRoutesDeps) {
  const { identity, snapshots } = deps;
  const options = () => snapshots.current().options;
  const users = createUserStore(deps);
  const notices = createCredentialNotices({ ...deps, mailer: identity.mailer, options });
  return { ...deps, ...identity, store: users, users, options, notices };
}

export type AccountParts = ReturnType<typeof createAccountParts>;

/** Creates the routes of sign-in, accounts, options, status and setup. */
export function accountRoutes(accounts: AccountParts): Route[] {
  const { database, clock, identity, snapshots, options, users, notices } = accounts;
  const deps = accounts;
  const authStore = createAuthStore(database);
  const optionStore = createOptionStore({ ...deps, defaults: deps.optionDefaults });
  return [
    ...authRoutes({
      signIn: { ...identity, store: authStore, options },
      register: accounts,
      email: { ...deps, ...identity, users, store: authStore, options, notices },
      factors: { ...accounts, users },
      oauth: { ...accounts, ...identity.services, users },
    }),
    ...userAdminRoutes(accounts),
    ...userManageRoutes(accounts),
    ...selfRoutes({ ...accounts, snapshot: () => snapshots.current() }),
    confirmRoute(accounts),
    ...sessionRoutes(accounts),
    ...optionRoutes({ store: optionStore, defaults: deps.optionDefaults, snapshot: () => snapshots.current() }),
    ...statusRoutes({
      ...deps,
      options,
      startedAt: seconds(clock),
      isSetUp: deps.setupState.isSetUp,
      listOffers: createOffers({ ...identity, clock }),
    }),
    ...identityProviderRoutes(accounts),
    ...setupRoutes({ ...deps, ...identity, state: deps.setupState, options: optionStore }),
  ];
}
