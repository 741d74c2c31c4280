import type { ClickhouseLog } from "./open.ts";
import { PARTITION_SECONDS } from "./table.ts";

interface Removal {
  /** Rows older than this are deleted (epoch seconds), oldest first. */
  readonly before: number;
  /** Rows with this id or a higher one stay. */
  readonly below: number;
  readonly type?: number | undefined;
}

/** A delete rewrites a mark of each row of a part, so each day gets one statement. Yields the number of its rows. */
export async function* removeByDay({ raw }: ClickhouseLog, { before, below, type }: Removal): AsyncGenerator<number> {
  let from = 0;
  for (;;) {
    const condition = `created_at >= ? and created_at < ? and id < ?${ofType(type)}`;
    const [oldest] = await raw.rows<{ created_at: number }>(
      `select created_at from logs where ${condition} order by created_at limit 1`,
      [from, before, below],
    );
    if (!oldest) return;
    const end = (Math.floor(oldest.created_at / PARTITION_SECONDS) + 1) * PARTITION_SECONDS;
    const values = [from, Math.min(before, end), below];
    const [found] = await raw.rows<{ count: number }>(`select count(*) as count from logs where ${condition}`, values);
    await raw.run(`delete from logs where ${condition}`, values);
    yield Number(found?.count ?? 0);
    from = end;
  }
}

/** Returns the number of statements of a removal. */
export async function countDays({ raw }: ClickhouseLog, before: number, type?: number): Promise<number> {
  const sql = `select count(distinct intDiv(created_at, ${PARTITION_SECONDS})) as count from logs where created_at < ?`;
  const [row] = await raw.rows<{ count: number }>(sql + ofType(type), [before]);
  return Number(row?.count ?? 0);
}

function ofType(type: number | undefined): string {
  return type === undefined ? "" : ` and type = ${type}`;
}

/** A partition of one day. */
interface Day {
  readonly name: string;
  /** Its rows are older than this (epoch seconds). */
  readonly before: number;
}

/** Returns the days that have rows, oldest first. */
export async function readDays({ raw }: ClickhouseLog): Promise<Day[]> {
  const sql = `select distinct toInt64(partition_id) as day from system.parts
    where database = currentDatabase() and table = 'logs' and active order by day`;
  const rows = await raw.rows<{ day: number }>(sql, []);
  return rows.map(({ day }) => ({ name: String(day), before: (Number(day) + 1) * PARTITION_SECONDS }));
}

/** Removes a day with its rows. */
export async function dropDay({ raw }: ClickhouseLog, { name }: Day): Promise<void> {
  await raw.run(`alter table logs drop partition id '${name}'`, []);
}
