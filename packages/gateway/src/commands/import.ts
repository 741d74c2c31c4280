import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { openStorage, separateLog, type AppStorage } from "../composition/storage.ts";
import { createSqlLedger } from "../billing/ledger/sql/sql-ledger.ts";
import { processEnv } from "../config/env.ts";
import { toDatabaseUrl } from "../config/go-dsn.ts";
import { systemClock } from "../lib/clock.ts";
import type { Database } from "../storage/database.ts";
import { openForeign } from "../storage/foreign.ts";
import { readFlags, UsageError } from "./arguments.ts";
import { readDump } from "./dump/read.ts";
import { importCompatible, type CompatibleImport } from "../resources/import/databases/new-api/import.ts";
import type { CommandContext } from "./context.ts";
import { GroupNames } from "../resources/import/groups.ts";
import { CREDIT_DOLLARS, importLitellm, type LitellmTarget } from "../resources/import/litellm-import.ts";
import { saying } from "./progress.ts";
import { ImportReport } from "../resources/import/report.ts";

export const IMPORT_USAGE = [
  "fairway-gateway import --from one-api|new-api --database URL [--logs] [--log-database URL] [PRICES] [GROUPS] [--dry-run]",
  "fairway-gateway import --from bifrost --config FILE [PRICES] [GROUPS] [--dry-run]",
  "fairway-gateway import --from litellm [--config FILE] [--database URL [--credit DOLLARS]] [PRICES] [GROUPS] [--dry-run]",
  "fairway-gateway import --from fairway --dir FOLDER [--dry-run]",
  "PRICES: [--price-from-upstream] [--price-from URL]   GROUPS: [--map-group OLD=NEW …]",
].join("\n");

const FLAGS = {
  from: "string",
  database: "string",
  config: "string",
  credit: "string",
  dir: "string",
  logs: "boolean",
  "log-database": "string",
  "price-from-upstream": "boolean",
  "price-from": "string",
  "map-group": "strings",
  "dry-run": "boolean",
} as const;

const STOPPED =
  "The import stopped. What it wrote stays: run the same command again to continue, which writes nothing twice.";

type ImportFlags = ReturnType<typeof readFlags<typeof FLAGS>>;

/** Imports the data of another gateway, or of another installation of this one. */
export async function importAny(args: readonly string[], context: CommandContext): Promise<void> {
  const flags = readFlags(args, FLAGS, IMPORT_USAGE);
  checkUsage(flags);
  const storage = await openStorage(context.env, context.log);
  try {
    const report = await run(flags, context, storage).catch((error: unknown) => {
      if (!flags["dry-run"]) context.print(STOPPED);
      throw error;
    });
    for (const line of report.lines()) context.print(line);
    context.print(flags["dry-run"] ? "Nothing was written: this was a dry run." : "Done.");
  } finally {
    await storage.close();
  }
}

function checkUsage({ from, database, config, dir, credit = "0" }: ImportFlags): void {
  const needed = {
    "one-api": database,
    "new-api": database,
    litellm: config ?? database,
    bifrost: config,
    fairway: dir,
  };
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(credit))
    throw new UsageError(`--credit takes US dollars such as 50\n${IMPORT_USAGE}`);
  const isKnown = from !== undefined && Object.hasOwn(needed, from);
  if (!isKnown || needed[from as keyof typeof needed] === undefined) throw new UsageError(IMPORT_USAGE);
}

async function run(flags: ImportFlags, context: CommandContext, storage: AppStorage): Promise<ImportReport> {
  const { from, dir = "" } = flags;
  if (from === "fairway")
    return readDump({ ...storage, logDatabase: requireSqlLog(storage), dir, isDry: flags["dry-run"] });
  const { database } = storage;
  const logTarget = flags.logs ? requireSqlLog(storage) : database;
  const settings = { database: database.raw, clock: systemClock, log: context.log };
  const { flush } = createSqlLedger({ ...settings, ...separateLog(storage) });
  const deps = { target: database, vault: storage.vault, clock: systemClock };
  const groups = groupNames(flags["map-group"]);
  const former = parseAddress(flags["price-from"]);
  const prices = { areChannelsAsked: flags["price-from-upstream"], former, network: context.network };
  const target = { ...deps, groups, prices, isDry: flags["dry-run"], onProgress: saying(context.print) };
  const report = await (from === "litellm" || from === "bifrost"
    ? runLitellm(flags, context, target)
    : runCompatible(flags, context, { ...target, logTarget }));
  await flush();
  return report;
}

function requireSqlLog({ logDatabase }: AppStorage): Database {
  if (logDatabase.kind !== "clickhouse") return logDatabase;
  throw new UsageError(
    "log rows are not imported into ClickHouse: leave FAIRWAY_LOG_DATABASE_URL blank for the import, and then copy them with `fairway-gateway logs copy`",
  );
}

function groupNames(pairs: readonly string[]): GroupNames {
  const names = pairs.map((pair) => /^([^=]+)=([^=]+)$/.exec(pair)?.slice(1));
  if (names.some((one) => one === undefined))
    throw new UsageError(`--map-group takes OLD=NEW such as default=staff\n${IMPORT_USAGE}`);
  return new GroupNames(Object.fromEntries(names as [string, string][]));
}

function parseAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new UsageError(`--price-from takes an address such as https://gateway.example.com\n${IMPORT_USAGE}`);
}

async function runLitellm(flags: ImportFlags, { log }: CommandContext, target: LitellmTarget): Promise<ImportReport> {
  const { config, credit = String(CREDIT_DOLLARS) } = flags;
  const url = flags.from === "litellm" ? flags.database : undefined;
  const report = new ImportReport();
  const writer = { userId: 0, username: "import", ip: "" };
  const file =
    config === undefined ? {} : { config: { text: readFileSync(config, "utf8"), env: processEnv(), writer } };
  const source = url === undefined ? undefined : openForeign(sourceUrl(url), log);
  try {
    await importLitellm(target, { ...file, ...(source && { source }), credit: Number(credit) }, report);
  } finally {
    await source?.close();
  }
  return report;
}

type CompatibleTarget = Omit<CompatibleImport, "kind" | "source" | "logSource" | "origin" | "withLogs">;

async function runCompatible(
  flags: ImportFlags,
  { log }: CommandContext,
  target: CompatibleTarget,
): Promise<ImportReport> {
  const { from, database: url = "", logs: withLogs } = flags;
  const source = openForeign(sourceUrl(url), log);
  const logUrl = flags["log-database"];
  const logSource = logUrl === undefined ? source : openForeign(sourceUrl(logUrl), log);
  try {
    const kind = from === "one-api" ? "one-api" : "new-api";
    return await importCompatible({ ...target, kind, source, logSource, origin: hashOrigin(url), withLogs });
  } finally {
    await source.close();
    if (logSource !== source) await logSource.close();
  }
}

/** Returns a database URL, a data source name of a compatible gateway, or the path of an SQLite file. */
function sourceUrl(text: string): string {
  if (/^(sqlite|mysql|mariadb|postgres|postgresql):/.test(text)) return text;
  return text.includes("@") ? (toDatabaseUrl(text) ?? text) : `sqlite:${text}`;
}

/** Returns the same hash for every run on one database, whatever the password. */
function hashOrigin(url: string): string {
  const bare = url.replace(/\/\/[^@/]*@/, "//").split("?", 1)[0] ?? "";
  return createHash("sha256").update(bare).digest("hex").slice(0, 12);
}
