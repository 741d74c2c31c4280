import { LOG_TYPE } from "@fairway/wire";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";

/** Returns whether a charge at this time (epoch milliseconds) should have a log row. */
export type IsLogged = (at: number) => boolean;

/** Replicas apply a changed option within this time; charges near a change are skipped. */
const SPREAD_MS = 60_000;

interface Change {
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly created_at: number;
}

/** Charges are logged while `LogConsumeEnabled` is on; the history of the option shows when that was. */
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
 * Epoch milliseconds since which log rows of charges are retained. The removal of old logs never deletes the newest
 * row, so an empty table has lost its rows.
 */
export async function oldestRowTime(logs: Pick<RawTransaction, "rows">): Promise<number> {
  const oldest = async (condition: string, values: readonly number[]) => {
    const sql = `select min(created_at) as since from logs${condition}`;
    const [row] = await logs.rows<{ since: number | null }>(sql, [...values]);
    return row?.since ?? undefined;
  };
  const since = (await oldest(" where type = ?", [LOG_TYPE.consume])) ?? (await oldest("", []));
  return since === undefined ? 0 : (Number(since) + 1) * 1_000;
}
