import { createChanges } from "../../../../billing/ledger/booking/balance-changes.ts";
import type { Database } from "../../../../storage/database.ts";
import { ForeignValueError } from "../../../../storage/foreign.ts";
import { rehearse, undoing } from "../../../../storage/rehearsal.ts";
import { bump } from "../../../../storage/revisions.ts";
import { ImportReport } from "../../report.ts";
import { alignIds } from "../rows.ts";
import { importChannels } from "./channels.ts";
import type { ImportContext } from "./context.ts";
import { importLogs, importSums } from "./logs.ts";
import { importOptions, importRedemptions, importTopUps } from "./others.ts";
import { importDrawings, importTasks } from "./tasks.ts";
import { importTokens } from "./tokens.ts";
import { importUsers } from "./users.ts";

type Made = "ledger" | "report" | "users" | "tokens" | "channels" | "routed" | "progress" | "served";

export interface CompatibleImport extends Omit<ImportContext, Made> {
  readonly withLogs: boolean;
  /** Called with a kind of row and the number of imported rows. */
  readonly onProgress: (what: string, done: number) => void;
}

/** Imports a database of a compatible gateway. A second run changes nothing that already exists. */
export async function importCompatible(
  { withLogs, onProgress, ...settings }: CompatibleImport,
  report = new ImportReport(),
): Promise<ImportReport> {
  const progress = (what: string) => onProgress(what, report.total(what));
  const maps = {
    users: new Map<number, number>(),
    tokens: new Map<number, number>(),
    channels: new Map<number, number>(),
  };
  const made = { ...settings, ...maps, report, progress, routed: [], served: [] };
  const { source, logSource, logTarget, target, isDry, clock } = settings;
  const createContext = (place: Database): ImportContext => {
    const { changeWith } = createChanges({ database: place.raw, clock, onCommit: () => Promise.resolve() });
    return { ...made, target: place, ledger: { changeWith } };
  };
  for (const table of ["users", "tokens", "channels", "options"]) {
    if (!(await source.has(table)))
      throw new ForeignValueError(`this is no database of ${settings.kind}: it has no table ${table}`);
  }
  // A dry run also writes everything, in a transaction that is rolled back, so it fails where the real run would fail.
  const bringAll = (place: Database) => importTables(createContext(place));
  const areSummed = await (isDry ? rehearse(target, bringAll) : bringAll(target));
  // The log may be too large for one transaction.
  const logPlace = isDry ? { ...logTarget, raw: undoing(logTarget.raw) } : logTarget;
  if (withLogs && (await logSource.has("logs")))
    await importLogs({ ...createContext(target), logTarget: logPlace }, { areSummed });
  return report;
}

/** Imports everything except the log; returns whether there were hourly sums. */
async function importTables(context: ImportContext): Promise<boolean> {
  const { source, target, isDry } = context;
  await importUsers(context);
  // PostgreSQL does not roll back the numbers of its sequences.
  if (!isDry) await alignIds(target, ["users"]);
  await importTokens(context);
  await importChannels(context);
  if (!isDry) await alignIds(target, ["tokens", "channels"]);
  await importOptions(context);
  if (await source.has("redemptions")) await importRedemptions(context);
  if (await source.has("top_ups")) await importTopUps(context);
  await importDrawings(context);
  await importTasks(context);
  const areSummed = await importSums(context);
  await announce(context);
  return areSummed;
}

/** Makes running gateways reload what changed. */
async function announce({ target: { raw, kind } }: ImportContext): Promise<void> {
  await raw.transaction(async (tx) => {
    for (const topic of ["users", "tokens", "channels", "options"] as const) await bump(tx, kind, topic);
  });
}
