import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { moveMark, readMark } from "../usage-data/log-mark.ts";
import type { DestinationName } from "./destination.ts";

/** Position of a destination in the log, stored in rows of `revisions`. */
export interface Cursor {
  /** Id of the last row that the destination has confirmed. */
  readonly done: number;
  /** Last id of the batch in progress, which is resent with the same rows. Not above `done` if there is none. */
  readonly planned: number;
}

export interface CursorStore {
  /** Starts a destination without a cursor after the row with this id. */
  begin(after: number): Promise<void>;
  read(): Promise<Cursor>;
  /** Stores the last id of the next batch before it is sent. Returns false if another replica has done so. */
  plan(from: Cursor, to: number): Promise<boolean>;
  /** Ends the batch in progress. Returns false if another replica has done so. */
  finish(cursor: Cursor): Promise<boolean>;
}

/** Rows of `revisions` of every destination; an export of the database includes them. */
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
