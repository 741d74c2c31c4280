import type { OptionDefaults } from "@fairway/wire";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";
import type { WriteLog } from "../../storage/log-rows.ts";
import type { Topic } from "../../storage/revisions.ts";
import { rawOn, transact, within } from "../../storage/transaction.ts";
import { createBudgetStore, type BudgetStore } from "../budgets/store.ts";
import type { RefusesHost } from "../channels/destination.ts";
import { createChannelStore, type ChannelStore } from "../channels/store.ts";
import { createOptionStore, type OptionStore } from "../options/store.ts";
import type { Announce, Vault } from "../ports.ts";
import { createTokenStore, type TokenStore } from "../tokens/store.ts";
import { createUserStore, type UserStore } from "../users/store.ts";
import { createOwnershipStore, type OwnershipStore } from "./ownership.ts";

const TURN = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], add: ["revision"] } as const;

export interface StoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly refusesHost: RefusesHost;
  readonly vault: Vault;
  readonly announce: Announce;
  readonly writeLog: WriteLog;
  /** The relay's copies of tokens. */
  readonly tokens: { dropToken(tokenId: number): void; dropUser(userId: number): void };
  readonly optionDefaults: OptionDefaults;
}

/** The stores that documents are compared with and written to. */
export interface Stores {
  readonly database: Database;
  readonly channels: ChannelStore;
  readonly tokens: TokenStore;
  readonly users: UserStore;
  readonly options: OptionStore;
  readonly budgets: BudgetStore;
  readonly ownership: OwnershipStore;
  readonly announce: Announce;
  readonly clock: Clock;
}

export function createStores(deps: StoreDeps): Stores {
  return {
    database: deps.database,
    channels: createChannelStore(deps),
    tokens: createTokenStore(deps),
    users: createUserStore(deps),
    options: createOptionStore({ ...deps, defaults: deps.optionDefaults }),
    budgets: createBudgetStore(deps),
    ownership: createOwnershipStore(deps),
    announce: deps.announce,
    clock: deps.clock,
  };
}

/** Runs `work` in one transaction; after its commit, notifies replicas and drops copies. */
export async function inOneTransaction<T>(deps: StoreDeps, work: (stores: Stores) => Promise<T>): Promise<T> {
  let changed = new Set<Topic>();
  let stale = new Set<number>();
  let staleUsers = new Set<number>();
  const { kind } = deps.database;
  const answer = await transact(deps.database.db, async (trx) => {
    // Concurrent applies wait here; otherwise both would create what neither of them finds.
    await rawOn(trx, kind).run(upsertSql(kind, TURN), ["documents", 1]);
    // An earlier attempt of the transaction was rolled back.
    changed = new Set();
    stale = new Set();
    staleUsers = new Set();
    return work(
      createStores({
        ...deps,
        database: within(trx, deps.database),
        announce: (topic) => Promise.resolve(void changed.add(topic)),
        tokens: { dropToken: (id) => void stale.add(id), dropUser: (id) => void staleUsers.add(id) },
      }),
    );
  });
  for (const id of stale) deps.tokens.dropToken(id);
  for (const id of staleUsers) deps.tokens.dropUser(id);
  for (const topic of changed) await deps.announce(topic);
  return answer;
}
