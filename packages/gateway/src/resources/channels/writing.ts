import type { Transaction } from "kysely";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../storage/database.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { RefusesHost } from "./destination.ts";
import type { Announce, Vault } from "../ports.ts";

export interface ChannelStoreDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly announce: Announce;
  readonly clock: Clock;
  /** Returns true for a host that no call may reach. */
  readonly refusesHost: RefusesHost;
}

export interface Writing extends ChannelStoreDeps {
  /** Runs a change in a transaction that raises the revision, then notifies all replicas. */
  readonly write: <T>(work: (trx: Transaction<Schema>) => Promise<T>) => Promise<T>;
}
