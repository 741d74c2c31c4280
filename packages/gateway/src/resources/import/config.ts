import type { OptionRow } from "@fairway/wire";
import type { Clock } from "../../lib/clock.ts";
import type { Network } from "../../lib/net/network.ts";
import type { Database } from "../../storage/database.ts";
import { rehearse } from "../../storage/rehearsal.ts";
import type { Vault } from "../ports.ts";
import type { OptionWrite, Writer } from "../options/store.ts";
import type { GroupNames } from "./groups.ts";
import { importChannels } from "./imported-channels.ts";
import { noteGroups, noteUnpriced, createImportOptionStore, withWrites } from "./options.ts";
import { priceWrites } from "./prices.ts";
import { readConfig } from "./read.ts";
import type { ImportReport } from "./report.ts";
import { upstreamPrices } from "./upstream-prices.ts";

export interface ConfigImport {
  readonly target: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly isDry: boolean;
  /** YAML of LiteLLM or JSON of Bifrost. */
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The author in the history of options. */
  readonly writer: Writer;
  readonly groups: GroupNames;
  readonly prices: {
    readonly areChannelsAsked: boolean;
    /** Address of the LiteLLM that is being replaced; called with the master key of its configuration. */
    readonly former: string | undefined;
    readonly network: Network;
  };
}

/** Imports the channels of a LiteLLM or Bifrost configuration. Existing channels are not changed. */
export async function importConfig(settings: ConfigImport, report: ImportReport): Promise<void> {
  const { groups, target, isDry } = settings;
  const { channels, costs, retries, strategy, fallbacks, masterKey, notes } = readConfig(
    settings.text,
    settings.env,
    groups,
  );
  // A dry run also writes, but into a transaction that is rolled back.
  const write = <T>(work: (place: Database) => Promise<T>) => (isDry ? rehearse(target, work) : work(target));
  await write((place) => importChannels({ ...settings, target: place }, channels, report));
  const store = createImportOptionStore(settings);
  const stored = await store.stored();
  report.notes.push(...notes);
  const { areChannelsAsked, former, network } = settings.prices;
  const served = channels.map(({ baseUrl, key, models }) => ({ address: baseUrl, key, models }));
  const published = await upstreamPrices(
    { network, areChannelsAsked, former: former === undefined ? undefined : { address: former, key: masterKey } },
    { channels: served, options: withWrites(stored, priceWrites(costs, stored)) },
    report,
  );
  const prices = priceWrites(new Map([...published, ...costs]), stored, report);
  const retryText = retries === undefined ? undefined : String(Math.max(0, Math.trunc(retries)));
  const setOption = async (key: "RetryTimes" | "ChannelStrategy" | "ModelFallbacks", text: string | undefined) =>
    writeSetting({ key, text }, { stored, isChosen: await store.isSetByOperator(key) }, report);
  const writes = [
    ...prices,
    ...(await setOption("RetryTimes", retryText)),
    ...(await setOption("ChannelStrategy", strategy === "weight" ? undefined : strategy)),
    ...(await setOption("ModelFallbacks", fallbacks && JSON.stringify(fallbacks))),
  ];
  const after = withWrites(stored, writes);
  noteGroups(groups, after, report);
  noteUnpriced(report, channels, after);
  if (writes.length > 0)
    await write((place) => createImportOptionStore({ ...settings, target: place }).write(writes, settings.writer));
}

/** Writes an option in place of that of a new database, unless an operator has set one. */
function writeSetting(
  { key, text }: { readonly key: OptionWrite["key"]; readonly text: string | undefined },
  { stored, isChosen }: { readonly stored: readonly OptionRow[]; readonly isChosen: boolean },
  report: ImportReport,
): OptionWrite[] {
  if (text === undefined) return [];
  const own = stored.find((row) => row.key === key)?.value;
  const isUnchanged = own === text || (own !== undefined && isChosen);
  if (isUnchanged && own !== text) report.notes.push(`${key} is set already, so ${text} is not taken over`);
  report.count("options", isUnchanged ? "unchanged" : own === undefined ? "created" : "updated");
  return isUnchanged ? [] : [{ key, text }];
}
