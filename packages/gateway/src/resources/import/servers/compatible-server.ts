import { QUOTA_PER_UNIT, ROLE, type SourceGateway } from "@fairway/wire";
import type { ForeignDatabase } from "../../../storage/foreign.ts";
import type { ImportReport } from "../report.ts";
import { readList, readOne, readWhole } from "./compatible-pages.ts";
import { createMemoryTables, type PlainRow } from "./memory-tables.ts";
import { ServerProblem, type ServerPlace } from "./server-calls.ts";

interface CompatibleServer {
  readonly source: ForeignDatabase;
  /** Numbers of the super administrators there, whose keys belong to the importing one here. */
  readonly superAdministrators: readonly number[];
}

interface ServerReading {
  readonly kind: SourceGateway;
  readonly report: ImportReport;
  /** Called with a kind of row and the number of rows so far. */
  readonly onProgress: (what: string, done: number) => void;
}

/** Reads what the management calls of a running gateway show, before anything is written here. */
export async function readCompatibleServer(
  place: ServerPlace,
  { kind, report, onProgress }: ServerReading,
): Promise<CompatibleServer> {
  const self = await readOne(place, "/api/user/self");
  if (typeof self["role"] !== "number" || self["role"] < ROLE.root)
    throw new ServerProblem("the token is not that of a super administrator there");
  const known = { ...place, headers: { ...place.headers, "new-api-user": String(self["id"]) } };
  const read = async (what: string, path: string) => {
    let count = 0;
    return readList(known, path, (rows) => onProgress(what, (count += rows)));
  };
  const factor = await readFactor(known, report);
  const options = await readWhole(known, "/api/option/");
  if (!options) throw new ServerProblem("its options could not be read");
  const channels = await read("channels", "/api/channel/");
  const users = await read("users", "/api/user/");
  const tokens = await read("tokens", "/api/token/");
  const redemptions = await read("redemption codes", "/api/redemption/");
  noteHidden(report, kind);
  const source = createMemoryTables({
    options,
    channels: channels.map((row) => toChannel(row, factor)),
    users: users.map((row) => toUser(row, factor)),
    tokens: tokens.map((row) => toToken(row, factor)),
    redemptions: redemptions.map((row) => scale(row, factor, ["quota"])),
  });
  const isSuper = (row: PlainRow) => typeof row["role"] === "number" && row["role"] >= ROLE.root;
  const superAdministrators = [...new Set([self, ...users.filter(isSuper)].map(({ id }) => Number(id)))];
  return { source, superAdministrators };
}

/** Returns by what their amounts are multiplied. */
async function readFactor(place: ServerPlace, report: ImportReport): Promise<number> {
  const { quota_per_unit: there } = await readOne(place, "/api/status");
  if (typeof there !== "number" || there <= 0 || there === QUOTA_PER_UNIT) return 1;
  report.notes.push(`amounts are converted: a dollar is ${there} units there, ${QUOTA_PER_UNIT} here`);
  return QUOTA_PER_UNIT / there;
}

function noteHidden(report: ImportReport, kind: SourceGateway): void {
  report.notes.push(
    "its calls show no keys of channels: the channels are off until you enter them",
    "its calls show no passwords, sign-ins and second factors: users set a password by mail, or an administrator does",
    "its calls list the keys of the token's owner alone, not those of other users",
    "secrets among its options, orders, tasks and its log are not read",
  );
  if (kind === "one-hub") report.notes.push("prices of one-hub are no options: what it publishes is taken instead");
  else report.notes.push("its database has all of this: import an export of it instead, and clients keep their keys");
}

function scale(row: PlainRow, factor: number, names: readonly string[]): PlainRow {
  if (factor === 1) return row;
  const scaled = names.flatMap((name) =>
    typeof row[name] === "number" ? [[name, Math.round(row[name] * factor)]] : [],
  );
  return { ...row, ...(Object.fromEntries(scaled) as PlainRow) };
}

/** Names of Go's structures that have no name in JSON. */
function withDeletion({ DeletedAt: deleted, ...row }: PlainRow): PlainRow {
  return deleted === undefined || deleted === null ? row : { deleted_at: deleted, ...row };
}

function toChannel({ proxy, ...row }: PlainRow, factor: number): PlainRow {
  const amounts = scale(withDeletion(row), factor, ["used_quota"]);
  return typeof proxy === "string" && proxy !== "" && !row["setting"]
    ? { ...amounts, setting: JSON.stringify({ proxy }) }
    : amounts;
}

/** The calls return no password, or the same stars for everyone. */
function toUser({ password: _hidden, original_password: _also, ...row }: PlainRow, factor: number): PlainRow {
  return scale(withDeletion(row), factor, ["quota", "used_quota", "aff_quota", "aff_history_quota", "aff_history"]);
}

/** Later versions show a key with stars in its middle. */
function toToken(row: PlainRow, factor: number): PlainRow {
  const { key } = row;
  const shown = typeof key === "string" && !key.includes("*") ? key : "";
  return { ...scale(withDeletion(row), factor, ["remain_quota", "used_quota"]), key: shown };
}
