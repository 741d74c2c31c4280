import { parseOptions, type OptionRow } from "@fairway/wire";
import { createPriceBook } from "../../billing/pricing/price-book.ts";
import type { Clock } from "../../lib/clock.ts";
import { createOptionStore, type OptionWrite } from "../options/store.ts";
import { pathUnlessCircular } from "../../snapshot/model-mapping.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import type { Database } from "../../storage/database.ts";
import { createLogWriter } from "../../storage/log-rows.ts";
import type { Vault } from "../ports.ts";
import type { GroupNames } from "./groups.ts";
import type { ImportReport } from "./report.ts";

export interface OptionTarget {
  readonly target: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

export function createImportOptionStore({ target, vault, clock }: OptionTarget) {
  const announce = () => Promise.resolve();
  const defaults = priceOptionDefaults();
  return createOptionStore({ database: target, vault, clock, defaults, announce, writeLog: createLogWriter(false) });
}

/** Returns the options after the writes. */
export function withWrites(
  stored: readonly OptionRow[],
  writes: readonly (Pick<OptionWrite, "text"> & { readonly key: string })[],
): OptionRow[] {
  const written = writes.map(({ key, text = "" }) => ({ key, value: text }));
  return [...stored.filter((row) => !written.some(({ key }) => key === row.key)), ...written];
}

/** Maximum number of names in a note; further ones are only counted. */
const MAX_NAMES = 100;

export function noteGroups(groups: GroupNames, options: readonly OptionRow[], report: ImportReport): void {
  groups.note(report, parseOptions(options, { defaults: priceOptionDefaults() }).GroupRatio);
}

/** Models of a channel: the name that clients use, and the name at the upstream. */
export interface ServedModels {
  readonly models: ReadonlyMap<string, string>;
}

/** Returns the models without a known price, sorted by name. */
export function unpricedModels(served: readonly ServedModels[], options: readonly OptionRow[]): string[] {
  const names = new Map<string, string[][]>();
  for (const { models } of served)
    for (const name of models.keys())
      names.set(name, [...(names.get(name) ?? []), pathUnlessCircular(models, name) ?? [name]]);
  const book = createPriceBook(parseOptions(options, { defaults: priceOptionDefaults() }), names);
  return [...names.keys()].filter((model) => book.find(model) === undefined).sort();
}

/** Reports the models without a price: their calls are refused until they have one. */
export function noteUnpriced(
  report: ImportReport,
  served: readonly ServedModels[],
  options: readonly OptionRow[],
): void {
  const unpriced = unpricedModels(served, options);
  if (unpriced.length === 0) return;
  const names = unpriced.slice(0, MAX_NAMES).join(", ") + (unpriced.length > MAX_NAMES ? ", …" : "");
  const count = unpriced.length === 1 ? "1 model has" : `${unpriced.length} models have`;
  report.notes.push(`${count} no price, so calls are refused until there is one: ${names}`);
}
