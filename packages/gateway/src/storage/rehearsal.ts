import type { Database } from "./database.ts";
import type { RawDatabase } from "./engines/raw.ts";
import { within } from "./transaction.ts";

class Undone extends Error {
  override readonly name = "Undone";
}

/** Does the work in one transaction that is rolled back, so that it fails where the work itself would. */
export async function rehearse<T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> {
  return undo((finish) => database.db.transaction().execute(async (trx) => finish(await work(within(trx, database)))));
}

/** A database whose transactions are rolled back, each of them: for work that is too large for one. */
export function undoing(raw: RawDatabase): RawDatabase {
  return {
    ...raw,
    transaction: (work) => undo((finish) => raw.transaction(async (tx) => finish(await work(tx)))),
  };
}

/** `finish` takes the result out of a transaction that then fails. */
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
