import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { openStorage, type AppStorage } from "../app-storage.ts";
import { createChanges } from "../billing/balance-changes.ts";
import { createSqlLedger } from "../billing/ledger-sql.ts";
import { processEnv } from "../config/env.ts";
import { databaseOfDsn } from "../config/go-dsn.ts";
import { systemClock } from "../lib/clock.ts";
import { openForeign } from "../storage/foreign.ts";
import { readFlags, UsageError } from "./arguments.ts";
import { readDump } from "./dump/read.ts";
import { importFamily } from "./family/import.ts";
import type { CommandContext } from "./index.ts";
import { importLitellm } from "./litellm/import.ts";
import { saying } from "./progress.ts";
import type { ImportReport } from "./report.ts";

const USAGE = [
  "fairway-gateway import --from one-api|new-api --database URL [--logs] [--log-database URL] [--dry-run]",
  "fairway-gateway import --from litellm --config FILE [--dry-run]",
  "fairway-gateway import --from fairway --dir FOLDER [--dry-run]",
].join("\n");

const FLAGS = {
  from: "string",
  database: "string",
  config: "string",
  dir: "string",
  logs: "boolean",
  "log-database": "string",
  "dry-run": "boolean",
} as const;

type ImportFlags = ReturnType<typeof readFlags<typeof FLAGS>>;

/** Brings over what another gateway, or another installation of this one, has. */
export async function importAny(args: readonly string[], context: CommandContext): Promise<void> {
  const flags = readFlags(args, FLAGS, USAGE);
  checkUsage(flags);
  const storage = await openStorage(context.env, context.log);
  try {
    const report = await run(flags, context, storage);
    for (const line of report.lines()) context.print(line);
    context.print(flags["dry-run"] ? "Nothing was written: this was a dry run." : "Done.");
  } finally {
    await storage.close();
  }
}

function checkUsage({ from, database, config, dir }: ImportFlags): void {
  const needed = { "one-api": database, "new-api": database, litellm: config, fairway: dir };
  const isKnown = from !== undefined && Object.hasOwn(needed, from);
  if (!isKnown || needed[from as keyof typeof needed] === undefined) throw new UsageError(USAGE);
}

async function run(flags: ImportFlags, context: CommandContext, storage: AppStorage): Promise<ImportReport> {
  const { from, config = "", dir = "", database: url = "" } = flags;
  const isDry = flags["dry-run"];
  if (from === "fairway") return readDump({ ...storage, dir, isDry });
  const target = { target: storage.database, vault: storage.vault, clock: systemClock, isDry };
  if (from === "litellm") return importLitellm({ ...target, text: readFileSync(config, "utf8"), env: processEnv() });
  const { database, logDatabase, isLogSeparate } = storage;
  const settings = { database: database.raw, clock: systemClock, log: context.log };
  const { flush } = createSqlLedger({ ...settings, ...(isLogSeparate ? { logDatabase: logDatabase.raw } : {}) });
  // Live balances of running replicas follow what is changed here.
  const changeWith = createChanges({ ...settings, onCommit: () => Promise.resolve() });
  const source = openForeign(sourceUrl(url), context.log);
  const logUrl = flags["log-database"];
  const logSource = logUrl === undefined ? source : openForeign(sourceUrl(logUrl), context.log);
  try {
    const report = await importFamily({
      ...target,
      kind: from === "one-api" ? "one-api" : "new-api",
      source,
      logSource,
      logTarget: logDatabase,
      ledger: { changeWith },
      origin: originOf(url),
      withLogs: flags.logs,
      onProgress: saying(context.print),
    });
    await flush();
    return report;
  } finally {
    await source.close();
    if (logSource !== source) await logSource.close();
  }
}

/** A database URL, a data source name as the family writes it, or the path of an SQLite file. */
function sourceUrl(text: string): string {
  if (/^(sqlite|mysql|mariadb|postgres|postgresql):/.test(text)) return text;
  return text.includes("@") ? (databaseOfDsn(text) ?? text) : `sqlite:${text}`;
}

/** The same for every run against one database, whatever the password. */
function originOf(url: string): string {
  const bare = url.replace(/\/\/[^@/]*@/, "//").split("?", 1)[0] ?? "";
  return createHash("sha256").update(bare).digest("hex").slice(0, 12);
}
