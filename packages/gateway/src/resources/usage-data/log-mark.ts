import type { Kysely } from "kysely";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { Schema } from "../../storage/tables/schema.ts";

/** Delay of reading the newest rows, because servers assign ids before their transactions commit. */
export const SETTLE_MS = 15_000;

/** Returns the id of the last log row in the sums of `topic`. */
export async function readMark({ raw }: Database, topic: string): Promise<number> {
  const rows = await raw.rows<{ revision: number }>("select revision from revisions where topic = ?", [topic]);
  if (rows[0]) return rows[0].revision;
  try {
    await raw.run("insert into revisions (topic, revision) values (?, ?)", [topic, 0]);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
  return 0;
}

/** Returns false if the mark is no longer at `from`; the transaction must then add nothing. */
export async function moveMark(
  tx: RawTransaction,
  topic: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  return (await tx.run("update revisions set revision = ? where topic = ? and revision = ?", [to, topic, from])) === 1;
}

/** Returns the id of the last row of a pass of about `rows` rows; ids may have gaps of any size. */
export async function findPassEnd(db: Kysely<Schema>, mark: number, rows: number): Promise<number> {
  const next = db.selectFrom("logs").select("id").where("id", ">", mark).orderBy("id").offset(rows).limit(1);
  return (await next.executeTakeFirst())?.id ?? Number.MAX_SAFE_INTEGER;
}

export function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
