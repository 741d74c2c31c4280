import { TookTooLong, withinTime } from "../../lib/async/time-limit.ts";

const LANE = 4;
const END_MS = 2_000;

/**
 * How the connections of a database are divided. Questions that must be answered soon have a lane of their own: slow
 * statements that took all other connections do not make the database look away, and connections that a host which
 * vanished has left behind do not hide that it is back.
 */
export function shares(connections: number): { readonly lane: number; readonly rest: number } {
  const lane = Math.max(1, Math.min(LANE, Math.floor(connections / 5)));
  return { lane, rest: Math.max(1, connections - lane) };
}

const borrowers = new WeakMap<object, AbortSignal>();

/**
 * Breaks a connection off when the time of its borrower is over, unless it has gone to another by then. False when it
 * is over already.
 */
export function lend<T extends object>(connection: T, limit: AbortSignal, breakOff: (connection: T) => void): boolean {
  if (limit.aborted) return false;
  borrowers.set(connection, limit);
  const end = () => borrowers.get(connection) === limit && breakOff(connection);
  limit.addEventListener("abort", end, { once: true });
  return true;
}

/** Pools wait for statements under way when they end, those that are never answered included: not longer than this. */
export async function endAll(pools: readonly (() => Promise<void>)[]): Promise<void> {
  try {
    await withinTime(END_MS, () => Promise.all(pools.map((end) => end())));
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
  }
}
