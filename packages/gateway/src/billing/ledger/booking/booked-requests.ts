import type { RawTransaction } from "../../../storage/engines/raw.ts";
import { inList } from "../../../storage/statements.ts";

/** Returns the requests that have an entry in the SQL ledger, from any process. */
export async function bookedRequests(
  database: RawTransaction,
  requestIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return find(database, requestIds, "kind in ('consume', 'deposit')");
}

/** Returns the requests whose charge is final: settled, or reaped and corrected. */
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
