import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { moveMark, readMark } from "../usage-data/log-mark.ts";
import type { DestinationName } from "./destination.ts";

/** How far a destination has the log, in rows of `revisions`. */
export interface Cursor {
  /** Id of the last row that the destination has confirmed. */
  readonly done: number;
  /** Where the batch under way ends: it is sent again with the same rows. Not above `done` when there is none. */
  readonly planned: number;
}

export interface CursorStore {
  /** A destination without a cursor begins after the row with this id. */
  begin(after: number): Promise<void>;
  read(): Promise<Cursor>;
  /** Stores where the next batch ends before it is sent. False when another replica has done so. */
  plan(from: Cursor, to: number): Promise<boolean>;
  /** Ends the batch under way. False when another replica has done so. */
  finish(cursor: Cursor): Promise<boolean>;
}

/** Rows of `revisions` of every destination; an export of the database takes them along. */
export const EXPORT_MARKS = ["otlp", "s3"].flatMap((name) => [`log-export-${name}`, `log-export-${name}-planned`]);

export function createCursorStore(database: Database, name: DestinationName): CursorStore {
  const [done, planned] = [`log-export-${name}`, `log-export-${name}-planned`];
  const { raw } = database;
  return {
    async begin(after) {
      const columns = ["topic", "revision"];
      const sql = upsertSql(raw.kind, { table: "revisions", columns, key: ["topic"] }, 2);
      await raw.run(sql, [done, after, planned, after]);
    },
    read: async () => ({ done: await readMark(database, done), planned: await readMark(database, planned) }),
    plan: (from, to) => raw.transaction((tx) => moveMark(tx, planned, { from: from.planned, to })),
    finish: (cursor) => raw.transaction((tx) => moveMark(tx, done, { from: cursor.done, to: cursor.planned })),
  };
}
