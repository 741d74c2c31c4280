import { upsertSql } from "../../../../storage/inserts.ts";
import type { RawDatabase, RawTransaction } from "../../../../storage/engines/raw.ts";
import type { LeaseTime } from "../../../reservations/lease-time.ts";

/** How long a replica counts as having Redis after it has said so: longer than a busy machine delays it. */
const VALID_MS = 10_000;
/** Another one answers in the place of a replica that is silent for this long. */
const SILENT_MS = 3_000;
/** A replica whose row is older than this has died. */
const DEAD_MS = 15_000;
const FORGOTTEN_MS = 600_000;
const KEEPER = {
  table: "balance_keepers",
  columns: ["replica", "until_at"],
  key: ["replica"],
  replace: ["until_at"],
} as const;

/** Says that this replica has Redis. Returns true if it is the one that answers: the first of them by name. */
export async function announce(database: RawDatabase, time: LeaseTime, replica: string): Promise<boolean> {
  const now = await time.read(database);
  await database.run(upsertSql(database.kind, KEEPER), [replica, now + VALID_MS]);
  const sql = "select replica, until_at from balance_keepers order by replica";
  const rows = await database.rows<{ replica: string; until_at: number }>(sql, []);
  if (rows.some(({ until_at }) => until_at < now - FORGOTTEN_MS))
    await database.run("delete from balance_keepers where until_at < ?", [now - FORGOTTEN_MS]);
  return rows.find(({ until_at }) => until_at > now + VALID_MS - SILENT_MS)?.replica === replica;
}

/** Says that this replica runs without Redis. */
export async function announceWithout(database: RawDatabase, time: LeaseTime, replica: string): Promise<void> {
  await database.run(upsertSql(database.kind, KEEPER), [replica, await time.read(database)]);
}

/** Forgets a replica that ends. */
export async function removeKeeper(database: RawTransaction, replica: string): Promise<void> {
  await database.run("delete from balance_keepers where replica = ?", [replica]);
}

/**
 * Returns whether a replica has Redis, and the time of the database. A replica that is alone has none to share with: if
 * its own Redis is slow, the database decides.
 */
export async function readKeepers(
  database: RawTransaction,
  time: LeaseTime,
  replica: string,
): Promise<{ readonly hasKeeper: boolean; readonly now: number }> {
  const now = time.at();
  const keepers = `select count(*) from balance_keepers where until_at > ${now.sql}`;
  const others = `select count(*) from balance_keepers where replica <> ? and until_at > ${now.sql} - ${DEAD_MS}`;
  const sql = `select ${now.sql} as now, (${keepers}) as keepers, (${others}) as others`;
  const values = [...now.values, ...now.values, replica, ...now.values];
  const [row] = await database.rows<{ now: number; keepers: number; others: number }>(sql, values);
  return { hasKeeper: Number(row?.keepers) > 0 && Number(row?.others) > 0, now: Number(row?.now) };
}
