import { isOptionKey, isSecretOption, parseOptions, splitList, type OptionRow } from "@fairway/wire";
import { createPriceBook } from "../billing/pricing/price-book.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import type { Database } from "../storage/database.ts";
import { readRevisions, type Revisions } from "../storage/revisions.ts";
import { isSealed, type Vault } from "../storage/secrets/secrets.ts";
import { CHANNEL_COLUMNS, createChannelReader, type ChannelReader } from "./channel-record.ts";
import { listedModels } from "./listed-models.ts";
import { mappedNames } from "./mapped-names.ts";
import { priceOptionDefaults } from "./option-defaults.ts";
import { readPlannedPrices, withPrices, type PendingPrices } from "./planned-prices.ts";
import { createSnapshot, type Listing } from "./snapshot.ts";
import type { Snapshot } from "./types.ts";
import { optionValue } from "../storage/secrets/sealed-locations.ts";

export interface LoadDeps {
  readonly database: Pick<Database, "db" | "raw">;
  readonly vault: Pick<Vault, "open">;
  readonly log: Logger;
  readonly clock: Clock;
}

/** A snapshot that takes the place of another one at a time. */
export interface Upcoming {
  /** Milliseconds. */
  readonly atMs: number;
  readonly snapshot: Snapshot;
}

export interface Loaded {
  readonly snapshot: Snapshot;
  /** The snapshot with the next planned prices; undefined if none are planned. */
  readonly upcoming: Upcoming | undefined;
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
  // Before the options: a plan that is written into them meanwhile is applied twice, which changes nothing. Read after
  // them, it would be in neither, and the earlier price would return until the next poll.
  const plans = await readPlans(deps);
  const [rows, { channels, unusable }] = await Promise.all([readOptions(deps), readChannels(deps, reader)]);
  const build = (texts: readonly OptionRow[]): Snapshot => {
    const options = parse(deps, texts);
    return createSnapshot({
      revision: revisions.options + revisions.channels,
      options,
      prices: createPriceBook(options, mappedNames(channels), listedModels(channels)),
      channels,
      unusable,
    });
  };
  const now = seconds(deps.clock);
  const isBegun = ({ startsAt }: PendingPrices) => startsAt <= now;
  const current = plans.filter(isBegun).reduce((texts, { prices }) => withPrices(texts, prices), rows);
  const [next] = plans.filter((plan) => !isBegun(plan));
  return { snapshot: build(current), upcoming: next && prepare(current, plans, next, build), revisions };
}

/** Builds the snapshot of the next plan, and of others that begin in the same second. */
function prepare(
  rows: readonly OptionRow[],
  plans: readonly PendingPrices[],
  { startsAt }: PendingPrices,
  build: (rows: readonly OptionRow[]) => Snapshot,
): Upcoming {
  const together = plans.filter((plan) => plan.startsAt === startsAt);
  const after = together.reduce<readonly OptionRow[]>((texts, { prices }) => withPrices(texts, prices), rows);
  return { atMs: startsAt * 1000, snapshot: build(after) };
}

/** Reads the planned prices that are not yet in the options, in the order in which they begin. */
async function readPlans({ database, log }: LoadDeps): Promise<PendingPrices[]> {
  const plans = database.db.selectFrom("price_plans").select(["id", "starts_at", "prices"]).where("ended_at", "=", 0);
  const rows = await plans.orderBy("starts_at").orderBy("id").execute();
  return rows.flatMap(({ id, starts_at: startsAt, prices }) => {
    try {
      return [{ startsAt, prices: readPlannedPrices(prices) }];
    } catch (error) {
      log.warn("planned prices are unreadable and do not begin; cancel them", { plan: id, error });
      return [];
    }
  });
}

async function readOptions({ database, vault, log }: LoadDeps): Promise<OptionRow[]> {
  const rows = await database.db.selectFrom("options").select(["key", "value"]).execute();
  return rows.flatMap((row) => openOption(row, vault, log));
}

function parse({ log }: LoadDeps, rows: readonly OptionRow[]): Snapshot["options"] {
  return parseOptions(rows, {
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
