import { createTable, type DatabaseKind, type TableSpec } from "./columns.ts";

/** What a step may use; everything happens on the connection that holds the migration lock. */
export interface StepContext {
  readonly kind: DatabaseKind;
  run(sql: string): Promise<void>;
  hasColumn(table: string, column: string): Promise<boolean>;
  hasIndex(table: string, index: string): Promise<boolean>;
}

/** The schema is not what this program needs; the message says what to do. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/** One change of the schema. Runs again after a crash in its middle, so it does nothing where its work is done. */
export type Step = (on: StepContext) => Promise<void>;

export interface Migration {
  /** Rises by one. */
  readonly version: number;
  readonly name: string;
  readonly steps: readonly Step[];
  /** Programs of before this change cannot work with the schema after it; they refuse to start. */
  readonly isBreaking?: boolean;
}

/** One step per table. */
export function tables(specs: Readonly<Record<string, TableSpec>>): Step[] {
  return Object.entries(specs).map(([table, spec]) => async (on) => {
    for (const sql of createTable(on.kind, table, spec)) await on.run(sql);
  });
}
