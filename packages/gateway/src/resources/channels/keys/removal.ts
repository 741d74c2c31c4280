import type { Transaction } from "kysely";
import { Refusal } from "../../../lib/refusal.ts";
import { markKey } from "../../../snapshot/key-marks.ts";
import type { Schema } from "../../../storage/tables/schema.ts";
import type { Vault } from "../../ports.ts";
import type { ChannelStore } from "../store.ts";
import { isOneAccount, requireUnused } from "./key-uses.ts";
import { onlyOne } from "./only-one.ts";
import type { KeySet } from "./store.ts";

export interface KeyRemovalDeps {
  readonly store: Pick<ChannelStore, "get" | "keySet" | "update">;
  readonly vault: Pick<Vault, "hashKey">;
  /** Asks providers to cancel the open batches of channels, or of one key; must not reject. */
  readonly cancelBatches: (channels: readonly number[], keyMark: string) => Promise<void>;
}

export interface KeyRemoval {
  readonly id: number;
  /** The keys that the places refer to. */
  readonly set: KeySet;
  readonly places: ReadonlySet<number>;
  /** Name of the input that has the place. */
  readonly field: string;
  /** Removes a key that files or batches need, too. */
  readonly isForced: boolean;
}

/** Removes keys, but never the last one: a channel without keys would look like one that was never filled in. */
export async function removeKeys(
  { id, set, places, field, isForced }: KeyRemoval,
  { store, vault, cancelBatches }: KeyRemovalDeps,
): Promise<void> {
  const row = await store.get(id);
  const seen = await store.keySet(id);
  // The keys that the indexes refer to must still be the keys of this version.
  if (!row || seen?.keys.join("\n") !== set.keys.join("\n")) throw new Refusal("channel_changed");
  const key = set.keys.filter((_, place) => !places.has(place)).join("\n");
  if (key === "") throw onlyOne(field);
  const marks = [...places].map((index) => ({ index, mark: markKey(set.keys[index] ?? "", vault.hashKey) }));
  // The provider of batches is asked while the channel still has the key.
  if (isForced && !isOneAccount(row)) for (const { mark } of marks) await cancelBatches([id], mark);
  const require = async (trx: Transaction<Schema>) => {
    for (const one of isForced ? [] : marks) await requireUnused(trx, { channel: row, ...one });
  };
  const outcome = await store.update(id, {}, { key, versions: [String(row.version)], require });
  if ("refused" in outcome) throw new Refusal(outcome.refused === "missing" ? "channel_not_found" : "channel_changed");
}
