import type { RawTransaction } from "../../../storage/engines/raw.ts";
import { inList } from "../../../storage/statements.ts";

/** Which of these requests the ledger of the database knows as ended, whoever ended them. */
export async function bookedRequests(
  database: RawTransaction,
  requestIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return find(database, requestIds, "kind = 'consume'");
}

/** Which of these requests owe nothing more: they were settled, or reaped and corrected. */
export async function settledRequests(
  database: RawTransaction,
  requestIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return find(database, requestIds, "(kind = 'correct' or (kind = 'consume' and detail = ''))");
}

async function find(
  database: RawTransaction,
  requestIds: readonly string[],
  condition: string,
): Promise<ReadonlySet<string>> {
  if (requestIds.length === 0) return new Set();
  const { marks, values } = inList(requestIds);
  const sql = `select request_id from ledger where request_id in ${marks} and ${condition}`;
  return new Set((await database.rows<{ request_id: string }>(sql, values)).map(({ request_id }) => request_id));
}
