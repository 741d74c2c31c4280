import type { RawDatabase, RawTransaction, SqlValue } from "../../../storage/engines/raw.ts";
import { TERMS, type Budget } from "../budget.ts";
import { forUpdate, inList, InsertColumns, insertRows, padded } from "../../../storage/statements.ts";

export interface HoldRow {
  readonly request_id: string;
  readonly budget_id: number;
  readonly amount: number;
  /** Milliseconds. */
  readonly lease_until: number;
}

/** The charge of a request that may be corrected or refunded. */
export interface ReapedRow {
  readonly request_id: string;
  readonly budget_id: number;
  readonly charged: number;
  /** Epoch milliseconds at which it was charged, and at which it may be deleted. */
  readonly closed_at: number;
  readonly look_at: number;
}

const COLUMNS = `${TERMS}, soft_percent, thresholds, window_start, used, held, noted, created_at, revision`;
const WRITTEN_AT_ONCE = 64;

/**
 * Locks budgets in ascending id order. Every change of a request's part of a budget holds this lock, taken after all
 * other locks.
 */
export async function lockBudgets(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  ids: Iterable<number>,
): Promise<Map<number, Budget>> {
  const wanted = [...new Set(ids)].sort((a, b) => a - b);
  if (wanted.length === 0) return new Map();
  const { marks, values } = inList(wanted);
  const sql = `select ${COLUMNS} from budgets where id in ${marks} order by id${forUpdate(kind)}`;
  return byId(await tx.rows<Budget>(sql, values));
}

/** Reads committed budgets without locks; without `ids`, reads all. */
export async function readBudgets(database: RawTransaction, ids?: readonly number[]): Promise<Map<number, Budget>> {
  if (!ids) return byId(await database.rows<Budget>(`select ${COLUMNS} from budgets`, []));
  if (ids.length === 0) return new Map();
  const { marks, values } = inList(ids);
  return byId(await database.rows<Budget>(`select ${COLUMNS} from budgets where id in ${marks}`, values));
}

function byId(rows: readonly Budget[]): Map<number, Budget> {
  return new Map(rows.map((budget) => [budget.id, budget]));
}

export async function writeBudgets(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  budgets: readonly Budget[],
): Promise<void> {
  const size = kind === "sqlite" ? 1 : WRITTEN_AT_ONCE;
  for (let from = 0; from < budgets.length; from += size) {
    const some = padded(budgets.slice(from, from + size));
    const cases = some.map(() => "when ? then ?").join(" ");
    const sets = (["window_start", "used", "held", "noted", "revision"] as const).map((column) => ({
      sql: `${column} = case id ${cases} else ${column} end`,
      values: some.flatMap((budget) => [budget.id, budget[column]]),
    }));
    const { marks, values } = inList(some.map(({ id }) => id));
    await tx.run(`update budgets set ${sets.map(({ sql }) => sql).join(", ")} where id in ${marks}`, [
      ...sets.flatMap((set) => set.values),
      ...values,
    ]);
  }
}

type Keyed = { readonly request_id: string; readonly budget_id: number };

export interface RowTable<Row extends Keyed> {
  readonly table: string;
  readonly columns: readonly (keyof Row & string)[];
}

export const HOLDS: RowTable<HoldRow> = {
  table: "budget_holds",
  columns: ["request_id", "budget_id", "amount", "lease_until"],
};

export const REAPED: RowTable<ReapedRow> = {
  table: "budget_reaped",
  columns: ["request_id", "budget_id", "charged", "closed_at", "look_at"],
};

/** The rows of some requests, which a transaction reads and changes. */
export interface RowsOf<Row extends Keyed> {
  of(requestId: string): ReadonlyMap<number, Row>;
  put(requestId: string, rows: readonly Row[]): void;
  write(tx: RawTransaction, kind: RawDatabase["kind"]): Promise<void>;
}

export class RequestRows<Row extends Keyed> implements RowsOf<Row> {
  readonly #table: RowTable<Row>;
  readonly #rows = new Map<string, ReadonlyMap<number, Row>>();
  /** Requests that have rows in the table. */
  readonly #stored = new Set<string>();
  readonly #changed = new Set<string>();

  private constructor(table: RowTable<Row>, rows: readonly Row[]) {
    this.#table = table;
    for (const [requestId, some] of Map.groupBy(rows, (row) => row.request_id)) {
      this.#rows.set(requestId, new Map(some.map((row) => [row.budget_id, row])));
      this.#stored.add(requestId);
    }
  }

  static async read<Row extends Keyed>(
    tx: RawTransaction,
    table: RowTable<Row>,
    requestIds: readonly string[],
  ): Promise<RequestRows<Row>> {
    if (requestIds.length === 0) return new RequestRows(table, []);
    const { marks, values } = inList(requestIds);
    const sql = `select ${table.columns.join(", ")} from ${table.table} where request_id in ${marks}`;
    return new RequestRows(table, await tx.rows<Row>(sql, values));
  }

  of(requestId: string): ReadonlyMap<number, Row> {
    return this.#rows.get(requestId) ?? new Map();
  }

  put(requestId: string, rows: readonly Row[]): void {
    this.#rows.set(requestId, new Map(rows.map((row) => [row.budget_id, row])));
    this.#changed.add(requestId);
  }

  async write(tx: RawTransaction, kind: RawDatabase["kind"]): Promise<void> {
    const { table, columns } = this.#table;
    const old = [...this.#changed].filter((requestId) => this.#stored.has(requestId));
    if (old.length > 0) {
      const { marks, values } = inList(old);
      await tx.run(`delete from ${table} where request_id in ${marks}`, values);
    }
    const rows = [...this.#changed].flatMap((requestId) => [...this.of(requestId).values()]);
    const values = rows.map((row) => columns.map((column) => row[column] as SqlValue));
    await insertRows(tx, kind, new InsertColumns(table, columns), values);
  }
}
