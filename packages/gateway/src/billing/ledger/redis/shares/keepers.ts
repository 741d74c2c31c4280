import { upsertSql } from "../../../../storage/inserts.ts";
import type { RawDatabase, RawTransaction } from "../../../../storage/engines/raw.ts";
import type { LeaseTime } from "../../../reservations/lease-time.ts";

/** How long a replica counts as having Redis after it has said so: longer than a busy machine delays it. */
const VALID_MS = 10_000;
/** Another one answers in the place of a replica that is silent for this long. */
const SILENT_MS = 3_000;
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

export async function withdrawKeeper(database: RawTransaction, replica: string): Promise<void> {
  await database.run("delete from balance_keepers where replica = ?", [replica]);
}

/** Returns whether another replica has Redis, and the time of the database. */
export async function readKeepers(
  database: RawTransaction,
  time: LeaseTime,
  replica: string,
): Promise<{ readonly hasOther: boolean; readonly now: number }> {
  const now = time.at();
  const sql = `select ${now.sql} as now, (select count(*) from balance_keepers where replica <> ? and until_at > ${now.sql}) as others`;
  const [row] = await database.rows<{ now: number; others: number }>(sql, [...now.values, replica, ...now.values]);
  return { hasOther: Number(row?.others) > 0, now: Number(row?.now) };
}
