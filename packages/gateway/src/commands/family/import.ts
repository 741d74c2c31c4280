import { bump } from "../../storage/revisions.ts";
import { importChannels } from "./channels.ts";
import { alignIds, ImportReport, type ImportContext } from "./context.ts";
import { importLogs, importOptions, importRedemptions } from "./others.ts";
import { importTokens } from "./tokens.ts";
import { importUsers } from "./users.ts";

export interface FamilyImport extends Omit<ImportContext, "report" | "users" | "tokens" | "channels"> {
  /** Names of the imported log rows begin with it; undefined leaves the logs out. */
  readonly logOrigin: string | undefined;
}

/** Brings a database of the family over; a second run changes nothing that is here already. */
export async function importFamily({ logOrigin, ...settings }: FamilyImport): Promise<ImportReport> {
  const report = new ImportReport();
  const context: ImportContext = { ...settings, report, users: new Map(), tokens: new Map(), channels: new Map() };
  for (const table of ["users", "tokens", "channels", "options"]) {
    if (!(await settings.source.has(table))) {
      throw new Error(`this is no database of ${settings.kind}: it has no table ${table}`);
    }
  }
  await importUsers(context);
  if (!settings.isDry) await alignIds(settings.target, ["users"]);
  await importTokens(context);
  await importChannels(context);
  if (!settings.isDry) await alignIds(settings.target, ["tokens", "channels"]);
  await importOptions(context);
  if (await settings.source.has("redemptions")) await importRedemptions(context);
  if (logOrigin !== undefined && (await settings.source.has("logs"))) await importLogs(context, logOrigin);
  if (!settings.isDry) await announce(context);
  return report;
}

/** Running gateways read again what changed. */
async function announce({ target: { raw, kind } }: ImportContext): Promise<void> {
  await raw.transaction(async (tx) => {
    for (const topic of ["users", "tokens", "channels", "options"] as const) await bump(tx, kind, topic);
  });
}
