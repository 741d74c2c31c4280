import type { Clock } from "../../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { insertMovements, ledgerIds, ledgerKey } from "./balance-outbox.ts";
import type { BalanceChange, Ledger } from "../ledger.ts";
import { applyAll, toListWork, type AfterChange } from "./change.ts";

export interface ChangesDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  /** Called after a commit with the user whose live balance must be updated. */
  readonly onCommit: (userId: number) => Promise<void>;
}

/**
 * Creates balance changes without a request: the database is changed first, together with the movement that updates
 * live balances.
 */
export function createChanges({
  database,
  clock,
  onCommit,
}: ChangesDeps): Pick<Ledger, "changeWith" | "changeAllWith"> {
  const after: AfterChange = (tx, change, at) => insertMovement(tx, database.kind, change, at);
  const changeAllWith: Ledger["changeAllWith"] = async (work) => {
    const applied = await applyAll(database, work, { at: () => clock.now(), after });
    for (const userId of new Set(applied?.map((change) => change.userId))) await onCommit(userId);
    return applied !== undefined;
  };
  return { changeAllWith, changeWith: (work) => changeAllWith(toListWork(work)) };
}

/** Inserts the movement of a change. Only a refund changes a token. */
async function insertMovement(
  tx: RawTransaction,
  dialect: RawDatabase["kind"],
  change: BalanceChange,
  at: number,
): Promise<void> {
  const { requestId, kind, userId, tokenId = 0, quota } = change;
  const ledgerId = (await ledgerIds(tx, [requestId])).get(ledgerKey(requestId, kind));
  if (ledgerId === undefined) throw new Error("an applied change has no ledger row");
  await insertMovements(tx, dialect, [{ ledgerId, userId, tokenId: kind === "refund" ? tokenId : 0, quota }], at);
}
