import { rehearse } from "../../storage/rehearsal.ts";
import type { ForeignDatabase } from "../../storage/foreign.ts";
import { importConfig, type ConfigImport } from "./config.ts";
import type { LitellmDatabase } from "./databases/litellm/context.ts";
import { importDatabase } from "./databases/litellm/database.ts";
import { noteGroups, createImportOptionStore } from "./options.ts";
import type { ImportReport } from "./report.ts";

/** The balance in US dollars of an account without a budget, high enough to be practically unlimited. */
export const CREDIT_DOLLARS = 1_000_000;

export type LitellmTarget = Omit<LitellmDatabase, "source" | "credit" | "report"> & Pick<ConfigImport, "prices">;

/** A configuration, a database, or both. */
interface LitellmParts {
  readonly config?: Pick<ConfigImport, "text" | "env" | "writer">;
  readonly source?: ForeignDatabase;
  readonly credit: number;
}

/** Imports what is given of LiteLLM, or a configuration of Bifrost. */
export async function importLitellm(
  target: LitellmTarget,
  { config, source, credit }: LitellmParts,
  report: ImportReport,
): Promise<void> {
  const bring = async (place: LitellmTarget) => {
    if (config) await importConfig({ ...place, ...config }, report);
    if (!source) return;
    await importDatabase({ ...place, source, credit, report });
    if (!config) noteGroups(place.groups, await createImportOptionStore(place).stored(), report);
  };
  // The database refers to models from the file, so a dry run of both is one transaction.
  const isTogether = target.isDry && config !== undefined && source !== undefined;
  await (isTogether
    ? rehearse(target.target, (place) => bring({ ...target, target: place, isDry: false }))
    : bring(target));
}
