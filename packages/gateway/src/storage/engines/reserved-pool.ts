import { TookTooLong, withinTime } from "../../lib/async/time-limit.ts";

const LANE = 4;
const END_MS = 2_000;

/**
 * Divides the connections of a database. Statements with a time limit use a reserved pool: slow statements on all other
 * connections do not make the database appear unreachable, and dead connections to a lost host do not delay the
 * recovery.
 */
export function shares(connections: number): { readonly lane: number; readonly rest: number } {
  const lane = Math.max(1, Math.min(LANE, Math.floor(connections / 5)));
  return { lane, rest: Math.max(1, connections - lane) };
}

const borrowers = new WeakMap<object, AbortSignal>();

/**
 * Destroys a connection when the time limit of its borrower expires, unless another borrower has it. Returns false when
 * the limit has already expired.
 */
export function lend<T extends object>(connection: T, limit: AbortSignal, breakOff: (connection: T) => void): boolean {
  if (limit.aborted) return false;
  borrowers.set(connection, limit);
  const end = () => borrowers.get(connection) === limit && breakOff(connection);
  limit.addEventListener("abort", end, { once: true });
  return true;
}

/** Closes pools; limits the wait for running statements. */
export async function endAll(pools: readonly (() => Promise<void>)[]): Promise<void> {
  try {
    await withinTime(END_MS, () => Promise.all(pools.map((end) => end())));
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
  }
}
