import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import type { Charge } from "../charge.ts";
import type { Hold } from "../ledger.ts";
import { lockUsers, type UserBalance } from "./accounts.ts";
import { Booking, REAPED, REAPED_UNUSED } from "./booking.ts";
import { inList } from "../../../storage/statements.ts";

/** The result of booking a charge. */
export type Outcome =
  | { readonly kind: "booked" | "corrected"; /** Signed change of the balance. */ readonly moved: number }
  /** Already in the database. */
  | { readonly kind: "known" }
  /** Corrects a charge of the same transaction, so the next transaction books it. */
  | { readonly kind: "later" };

export interface Booked {
  readonly outcomes: readonly Outcome[];
  readonly booking: Booking;
  /** Balances before the transaction. */
  readonly users: ReadonlyMap<number, UserBalance>;
}

interface LedgerRow {
  readonly request_id: string;
  readonly kind: string;
  readonly channel_id: number;
  readonly quota: number;
  readonly detail: string;
}

/**
 * Decides what each charge still changes, while its user is locked: another process that books the same charge waits
 * and then finds it booked. Does not write the booking.
 */
export async function decideCharges(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  charges: readonly Charge[],
): Promise<Booked> {
  const holds = charges.map(({ settlement }) => settlement.hold);
  const users = await lockUsers(
    tx,
    kind,
    holds.map(({ userId }) => userId),
  );
  const known = await knownCharges(tx, holds);
  const booking = new Booking();
  const fresh = new Set<string>();
  const outcomes = charges.map((charge): Outcome => {
    const id = charge.settlement.hold.requestId;
    const rows = known.get(id);
    if (rows) return correction(booking, charge, rows);
    if (fresh.has(id)) return charge.how ? { kind: "known" } : { kind: "later" };
    fresh.add(id);
    return consume(booking, charge);
  });
  return { outcomes, booking, users };
}

function consume(booking: Booking, { settlement, how }: Charge): Outcome {
  if (how === "lapsed") {
    const { hold, at } = settlement;
    booking.lapse({ request_id: hold.requestId, user_id: hold.userId, token_id: hold.tokenId, amount: 0 }, at);
    return { kind: "booked", moved: 0 };
  }
  booking.consume(settlement, how ? REAPED : "");
  return { kind: "booked", moved: 0 - settlement.quota };
}

/**
 * Returns the correction for a request that settles after it was reaped: it owes the difference, once. A deposit keeps
 * a hold from being charged that expired in Redis although its deposit is booked.
 */
function correction(booking: Booking, { settlement, how }: Charge, rows: LedgerRow[]): Outcome {
  const [consumed] = rows;
  const isReaped = consumed?.detail === REAPED || consumed?.detail === REAPED_UNUSED;
  if (!consumed || !isReaped || rows.length > 1 || how) return { kind: "known" };
  booking.correct(settlement, consumed);
  rows.push({ ...consumed, kind: "correct" });
  return { kind: "corrected", moved: 0 - consumed.quota - settlement.quota };
}

async function knownCharges(tx: RawTransaction, holds: readonly Hold[]): Promise<Map<string, LedgerRow[]>> {
  const { marks, values } = inList(holds.map(({ requestId }) => requestId));
  const sql = `select request_id, kind, channel_id, quota, detail from ledger where request_id in ${marks} and kind in ('consume', 'correct', 'deposit') order by id`;
  const known = new Map<string, LedgerRow[]>();
  for (const row of await tx.rows<LedgerRow>(sql, values)) {
    const rows = known.get(row.request_id);
    if (rows) rows.push(row);
    else known.set(row.request_id, [row]);
  }
  return known;
}
