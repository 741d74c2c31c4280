import { createTable, type DatabaseKind, type TableSpec } from "./columns.ts";

/** The operations available to a step; all run on the connection that holds the migration lock. */
export interface StepContext {
  readonly kind: DatabaseKind;
  run(sql: string): Promise<void>;
  hasRows(table: string): Promise<boolean>;
  /** True if the query finds a row. */
  has(query: string): Promise<boolean>;
  rows<Row>(query: string): Promise<readonly Row[]>;
  /** True if any row has the text somewhere in the column. */
  hasText(table: string, column: string, text: string): Promise<boolean>;
  setText(table: string, id: number, column: string, text: string): Promise<void>;
  hasColumn(table: string, column: string): Promise<boolean>;
  hasIndex(table: string, index: string): Promise<boolean>;
}

/** Thrown if the schema does not match this program; the message states the remedy. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/** One schema change. It must be idempotent, because it runs again after a crash. */
export type Step = (on: StepContext) => Promise<void>;

export interface Migration {
  /** Increases by one. */
  readonly version: number;
  readonly name: string;
  readonly steps: readonly Step[];
  /** Older programs cannot work with the changed schema and refuse to start. */
  readonly isBreaking?: boolean;
}

/** Returns one step per table. */
export function tables(specs: Readonly<Record<string, TableSpec>>): Step[] {
  return Object.entries(specs).map(([table, spec]) => async (on) => {
    for (const sql of createTable(on.kind, table, spec)) await on.run(sql);
  });
}
