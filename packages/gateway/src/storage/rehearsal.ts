import type { Database } from "./database.ts";
import type { RawDatabase } from "./engines/raw.ts";
import { within } from "./transaction.ts";

class Undone extends Error {
  override readonly name = "Undone";
}

/** Does the work in one transaction and rolls it back, so that it fails where the real work would. */
export async function rehearse<T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> {
  return undo((finish) => database.db.transaction().execute(async (trx) => finish(await work(within(trx, database)))));
}

/** Returns a database that rolls back each of its transactions, for work that is too large for one transaction. */
export function undoing(raw: RawDatabase): RawDatabase {
  return {
    ...raw,
    transaction: (work) => undo((finish) => raw.transaction(async (tx) => finish(await work(tx)))),
  };
}

/** Runs a transaction that always fails; `finish` passes its result out. */
async function undo<T>(run: (finish: (result: T) => never) => Promise<T>): Promise<T> {
  const results: T[] = [];
  try {
    return await run((result) => {
      results.push(result);
      throw new Undone();
    });
  } catch (error) {
    if (error instanceof Undone) return results.at(-1) as T;
    throw error;
  }
}
