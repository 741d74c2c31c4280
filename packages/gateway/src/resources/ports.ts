import type { Topic } from "../storage/revisions.ts";
import type { Vault as WholeVault } from "../storage/secrets/secrets.ts";

/** Seals secrets that must be readable again, and hashes secrets that must only be found again. */
export type Vault = Pick<WholeVault, "seal" | "open" | "hashKey">;

/** Runs after the commit of a change: refreshes this replica's own copy, then notifies the other replicas. */
export type Announce = (topic: Topic) => Promise<void>;
