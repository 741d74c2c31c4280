import { isOptionKey, isSecretOption, parseOptions, splitList, type OptionRow } from "@fairway/wire";
import { createPriceBook } from "../billing/pricing/price-book.ts";
import type { Logger } from "../observability/log.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import type { Database } from "../storage/database.ts";
import { readRevisions, type Revisions } from "../storage/revisions.ts";
import { isSealed, type Vault } from "../storage/secrets/secrets.ts";
import { CHANNEL_COLUMNS, createChannelReader, type ChannelReader } from "./channel-record.ts";
import { listedModels } from "./listed-models.ts";
import { mappedNames } from "./mapped-names.ts";
import { priceOptionDefaults } from "./option-defaults.ts";
import { createSnapshot, type Listing } from "./snapshot.ts";
import type { Snapshot } from "./types.ts";
import { optionValue } from "../storage/secrets/sealed-locations.ts";

export interface LoadDeps {
  readonly database: Pick<Database, "db" | "raw">;
  readonly vault: Pick<Vault, "open">;
  readonly log: Logger;
}

export interface Loaded {
  readonly snapshot: Snapshot;
  /** Read first, so that changes during the load trigger another load. */
  readonly revisions: Revisions;
}

/** Reads options and channels. Unreadable ones are skipped with a warning. */
export function createLoader(deps: LoadDeps): () => Promise<Loaded> {
  const reader = createChannelReader(deps.vault.open);
  return () => load(deps, reader);
}

async function load(deps: LoadDeps, reader: ChannelReader): Promise<Loaded> {
  const revisions = await readRevisions(deps.database);
  const [options, { channels, unusable }] = await Promise.all([readOptions(deps), readChannels(deps, reader)]);
  const snapshot = createSnapshot({
    revision: revisions.options + revisions.channels,
    options,
    prices: createPriceBook(options, mappedNames(channels), listedModels(channels)),
    channels,
    unusable,
  });
  return { snapshot, revisions };
}

async function readOptions({ database, vault, log }: LoadDeps): Promise<Snapshot["options"]> {
  const rows = await database.db.selectFrom("options").select(["key", "value"]).execute();
  const readable = rows.flatMap((row) => openOption(row, vault, log));
  return parseOptions(readable, {
    defaults: priceOptionDefaults(),
    warn: (key) => log.warn("option has an invalid value; its default is used", { key }),
  });
}

function openOption(row: OptionRow, vault: LoadDeps["vault"], log: Logger): OptionRow[] {
  if (!isOptionKey(row.key) || !isSecretOption(row.key) || !isSealed(row.value)) return [row];
  try {
    return [{ key: row.key, value: vault.open(row.value, optionValue(row.key)) }];
  } catch (error) {
    log.warn("secret option cannot be decrypted; its default is used", { key: row.key, error });
    return [];
  }
}

interface Channels {
  readonly channels: readonly ChannelRecord[];
  readonly unusable: readonly Listing[];
}

async function readChannels({ database, log }: LoadDeps, reader: ChannelReader): Promise<Channels> {
  const rows = await database.db.selectFrom("channels").select(CHANNEL_COLUMNS).orderBy("id").execute();
  const unusable: Listing[] = [];
  const channels = reader(rows, (row, error) => {
    log.warn("channel cannot be read and is skipped", { channelId: row.id, channelName: row.name, error });
    unusable.push({ groups: splitList(row.group), models: new Set(splitList(row.models)) });
  });
  return { channels, unusable };
}
