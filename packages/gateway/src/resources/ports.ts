import type { Topic } from "../storage/revisions.ts";
import type { Vault as WholeVault } from "../storage/secrets/secrets.ts";

/** Seals what must be shown or used again, and hashes what must only be found again. */
export type Vault = Pick<WholeVault, "seal" | "open" | "hashKey">;

/** Called after the commit of a change: refreshes this replica's own copy, then tells the others. */
export type Announce = (topic: Topic) => Promise<void>;
