import type { SourceGateway } from "@fairway/wire";
import { createHash } from "node:crypto";
import type { Clock } from "../../../lib/clock.ts";
import type { Network } from "../../../lib/net/network.ts";
import { createOutbound } from "../../../lib/net/outbound.ts";
import type { Database } from "../../../storage/database.ts";
import { openExport } from "../../../storage/dumps/open-export.ts";
import type { LogDatabase } from "../../../storage/log-database.ts";
import type { ForeignDatabase } from "../../../storage/foreign.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { JobControl } from "../../jobs/runner.ts";
import type { Writer } from "../../options/store.ts";
import type { Vault } from "../../ports.ts";
import { importConfig, type ConfigImport } from "../config.ts";
import { importCompatible } from "../databases/new-api/import.ts";
import type { GroupNames } from "../groups.ts";
import { CREDIT_DOLLARS, importLitellm } from "../litellm-import.ts";
import { publishedPrices } from "../published-prices.ts";
import type { ImportReport } from "../report.ts";
import { readCompatibleServer } from "../servers/compatible-server.ts";
import { readLitellmServer } from "../servers/litellm-server.ts";
import type { ServerPlace } from "../servers/server-calls.ts";
import { COMPATIBLE_TABLES, LITELLM_TABLES } from "./wanted-tables.ts";
import type { Upload } from "./upload.ts";

export interface WorkDeps {
  readonly database: Database;
  readonly logDatabase: LogDatabase;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly network: Network;
}

/** What every import has. */
export interface Work {
  readonly isDry: boolean;
  readonly groups: GroupNames;
  readonly writer: Writer;
  readonly report: ImportReport;
  readonly control: JobControl;
}

interface DatabaseWork extends Work {
  readonly upload: Upload;
  /** Bytes that a compressed dump may have when it is unpacked. */
  readonly maxBytes: number;
  readonly kind: SourceGateway;
  readonly withLogs: boolean;
}

/** Imports an uploaded database, whichever of the families it is of. */
export async function workOnDatabase(deps: WorkDeps, work: DatabaseWork): Promise<void> {
  const { upload, control, withLogs, maxBytes } = work;
  control.message("file");
  const tables = new Set([...COMPATIBLE_TABLES, ...LITELLM_TABLES, ...(withLogs ? ["logs"] : [])]);
  const wants = (table: string) => tables.has(table);
  const source = await openExport({ ...upload, wants, maxBytes, signal: control.signal });
  try {
    const isLitellm = await source.has("LiteLLM_VerificationToken");
    control.total(await countRows(source, tables));
    if (isLitellm) await importLitellm(buildTarget(deps, work), { source, credit: CREDIT_DOLLARS }, work.report);
    else await bringCompatible(deps, work, { source, kind: work.kind, origin: "upload", withLogs });
  } finally {
    await source.close();
  }
}

export function workOnConfig(
  deps: WorkDeps,
  work: Work & Pick<ConfigImport, "text" | "env"> & { readonly prices: Omit<ConfigImport["prices"], "network"> },
): Promise<void> {
  const prices = { ...work.prices, network: deps.network };
  work.control.message("channels");
  return importConfig({ ...buildTarget(deps, work), ...work, prices }, work.report);
}

interface ServerWork extends Work {
  readonly from: SourceGateway | "litellm";
  readonly address: string;
  readonly token: string;
  /** 0 = not given. */
  readonly userId: number;
}

/** Imports from a running gateway. It is read as a whole first: no transaction waits for its answers. */
export async function workOnServer(deps: WorkDeps, work: ServerWork): Promise<void> {
  const { from, address, token, userId, control, report } = work;
  const outbound = createOutbound(deps.network);
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (userId > 0) headers["new-api-user"] = String(userId);
  const place: ServerPlace = { address, headers, outbound, signal: control.signal };
  const onProgress = follow(control);
  try {
    if (from === "litellm") {
      const { config, source } = await readLitellmServer(place, { report, onProgress });
      const parts = { config: { text: config, env: {}, writer: work.writer }, source, credit: CREDIT_DOLLARS };
      return await importLitellm(buildTarget(deps, work), parts, report);
    }
    const { source, superAdministrators } = await readCompatibleServer(place, { kind: from, report, onProgress });
    const published = from === "one-hub" ? await publishedPrices(outbound, { address, key: "" }) : undefined;
    const adopted = new Map(superAdministrators.map((id) => [id, work.writer.userId]));
    await bringCompatible(deps, work, {
      source,
      kind: from,
      origin: createHash("sha256").update(address).digest("hex").slice(0, 12),
      withLogs: false,
      server: { adopted },
      ...(published && { published }),
    });
  } finally {
    await outbound.close();
  }
}

interface CompatibleSource {
  readonly source: ForeignDatabase;
  readonly kind: SourceGateway;
  readonly origin: string;
  readonly withLogs: boolean;
  readonly server?: { readonly adopted: ReadonlyMap<number, number> };
  readonly published?: Awaited<ReturnType<typeof publishedPrices>>;
}

async function bringCompatible(deps: WorkDeps, work: Work, from: CompatibleSource): Promise<void> {
  const { published, source, ...rest } = from;
  const target = buildTarget(deps, work);
  const prices = { ...target.prices, ...(published && { published }) };
  const places = { logTarget: rest.withLogs ? requireSqlLog(deps) : deps.database, source, logSource: source };
  await importCompatible({ ...target, ...rest, ...places, prices }, work.report);
}

/** Returns the database of the log; throws a Refusal if rows cannot be imported into it. */
export function requireSqlLog({ logDatabase }: Pick<WorkDeps, "logDatabase">): Database {
  if (logDatabase.kind === "clickhouse") throw new Refusal("import_without_logs");
  return logDatabase;
}

function buildTarget({ database: target, vault, clock, network }: WorkDeps, { isDry, groups, control }: Work) {
  const prices = { areChannelsAsked: false, former: undefined, network };
  return { target, vault, clock, groups, isDry, prices, onProgress: follow(control) };
}

/** Shows how far the work is, and ends it with the process: what was written stays, and another run continues. */
function follow(control: JobControl): (what: string, done: number) => void {
  const done = new Map<string, number>();
  return (what, count) => {
    control.signal.throwIfAborted();
    done.set(what, count);
    control.message(what);
    control.reached([...done.values()].reduce((sum, one) => sum + one, 0));
  };
}

async function countRows(source: ForeignDatabase, tables: ReadonlySet<string>): Promise<number> {
  let sum = 0;
  for (const table of tables) sum += await source.count(table);
  return sum;
}
