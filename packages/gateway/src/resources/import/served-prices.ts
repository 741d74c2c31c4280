import type { Network } from "../../lib/net/network.ts";
import type { Writer } from "../options/store.ts";
import { noteUnpriced, createImportOptionStore, withWrites, type OptionTarget } from "./options.ts";
import { priceWrites } from "./prices.ts";
import type { ImportReport } from "./report.ts";
import { upstreamPrices, type Served } from "./upstream-prices.ts";

export interface PricesImport extends OptionTarget {
  readonly channels: readonly Served[];
  /** Options that are about to be written. */
  readonly options: Readonly<Record<string, string>>;
  readonly areChannelsAsked: boolean;
  readonly isDry: boolean;
  readonly network: Network;
  readonly writer: Writer;
}

/** Imports prices of served models that have none, and reports the models that still have none. */
export async function importPrices(settings: PricesImport, report: ImportReport): Promise<void> {
  const { channels, options, areChannelsAsked, isDry, network, writer } = settings;
  const store = createImportOptionStore(settings);
  const planned = Object.entries(options).map(([key, text]) => ({ key, text }));
  const expected = withWrites(await store.stored(), planned);
  const published = await upstreamPrices(
    { network, areChannelsAsked, former: undefined },
    { channels, options: expected },
    report,
  );
  const writes = priceWrites(published, expected, report);
  noteUnpriced(report, channels, withWrites(expected, writes));
  if (!isDry && writes.length > 0) await store.write(writes, writer);
}
