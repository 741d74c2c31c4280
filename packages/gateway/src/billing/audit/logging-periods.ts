import { LOG_TYPE } from "@fairway/wire";
import type { RawDatabase } from "../../storage/engines/raw.ts";

/** Tells whether a charge of this time (epoch milliseconds) has a log row, unless the row was lost. */
export type IsLogged = (at: number) => boolean;

/** Replicas follow a change of the option within this time; charges near a change are left out. */
const SPREAD_MS = 60_000;

interface Change {
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly created_at: number;
}

/** Charges are logged while `LogConsumeEnabled` is on; the history of the option says when that was. */
export async function loggingPeriods(database: RawDatabase): Promise<IsLogged> {
  const sql = 'select old_value, new_value, created_at from option_history where "key" = ? order by id';
  const changes = await database.rows<Change>(sql, ["LogConsumeEnabled"]);
  return changes.length === 0 ? always(await isOnNow(database)) : fromHistory(changes);
}

const isOn = (value: string | null | undefined) => value !== "false";
const always =
  (isLogged: boolean): IsLogged =>
  () =>
    isLogged;

async function isOnNow(database: RawDatabase): Promise<boolean> {
  const sql = 'select value from options where "key" = ?';
  const [row] = await database.rows<{ value: string }>(sql, ["LogConsumeEnabled"]);
  return isOn(row?.value);
}

function fromHistory(changes: readonly Change[]): IsLogged {
  return (at) => {
    const near = changes.some(({ created_at }) => Math.abs(Number(created_at) * 1_000 - at) < SPREAD_MS);
    if (near) return false;
    const last = changes.findLast(({ created_at }) => Number(created_at) * 1_000 <= at);
    return isOn(last ? last.new_value : changes[0]?.old_value);
  };
}

/**
 * Epoch milliseconds since when the rows of charges are kept. A removal of old logs leaves the newest row of all, so a
 * table without a row has lost them.
 */
export async function keptSince(logs: RawDatabase): Promise<number> {
  const oldest = async (condition: string, values: readonly number[]) => {
    const sql = `select min(created_at) as since from logs${condition}`;
    const [row] = await logs.rows<{ since: number | null }>(sql, [...values]);
    return row?.since ?? undefined;
  };
  const since = (await oldest(" where type = ?", [LOG_TYPE.consume])) ?? (await oldest("", []));
  return since === undefined ? 0 : (Number(since) + 1) * 1_000;
}
