import { isUnstorable } from "../../storage/errors.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";

/** So often a database that takes writes refuses one charge before something is given up for it. */
export const REFUSALS = 3;

/** False while a refusal says nothing about what was refused: the database is away, or takes no writes at all. */
export async function takesWrites(database: Pick<RawDatabase, "transaction">): Promise<boolean> {
  try {
    await database.transaction((tx) => tx.run("update users set held = held where id = 0", []));
    return true;
  } catch {
    return false;
  }
}

/**
 * What a database that takes writes refuses again and again is the log row, which holds what came from outside: money goes
 * first, without it. One refusal alone may be the end of an outage.
 */
export function isOfLog(error: unknown, refusals: number): boolean {
  return isUnstorable(error) || refusals >= REFUSALS;
}
