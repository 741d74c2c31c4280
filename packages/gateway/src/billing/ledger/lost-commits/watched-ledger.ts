import type { Clock } from "../../../lib/clock.ts";
import type { BalanceChange, Ledger } from "../ledger.ts";
import type { CommitWatch } from "./commit-watch.ts";
import type { BookedChange, History } from "./history.ts";

export interface WatchedLedgerDeps {
  readonly ledger: Ledger;
  readonly watch: CommitWatch;
  readonly history: History | undefined;
  readonly clock: Clock;
  /** True if `settle` resolves when the charge is committed; otherwise the settler reports commits. */
  readonly commitsOnSettle: boolean;
}

/** A ledger that remembers on its own disk what the database has committed. */
export function createWatchedLedger(deps: WatchedLedgerDeps): Ledger {
  const { ledger, watch, history, commitsOnSettle } = deps;
  const settle: Ledger["settle"] = async (settlement) => {
    await ledger.settle(settlement);
    watch.committed({ requestId: settlement.hold.requestId, kind: "consume" });
    history?.addCharge(settlement);
  };
  let hasChecked = false;

  return {
    hold: (request) => ledger.hold(request),
    renew: (hold, seen, amount) => ledger.renew(hold, seen, amount),
    settle: commitsOnSettle ? settle : (settlement) => ledger.settle(settlement),
    release: (hold) => ledger.release(hold),
    ...watchChanges(deps),
    async reap() {
      // What the database lost is booked again before reservations that came back with it are charged.
      if (!hasChecked) await watch.check();
      hasChecked = true;
      return ledger.reap();
    },
    flush: (ms) => ledger.flush(ms),
    claimed: (userId, tokenId) => ledger.claimed(userId, tokenId),
    budgets: ledger.budgets,
    get pending() {
      return ledger.pending;
    },
  };
}

type Changes = Pick<Ledger, "change" | "changeWith" | "changeAllWith" | "deposit" | "closeDeposit">;

function watchChanges({ ledger, watch, history, clock }: WatchedLedgerDeps): Changes {
  const addChange = (change: Omit<BookedChange, "at">) => {
    watch.committed(change);
    history?.addChange({ ...change, at: clock.now() });
  };
  const addAll = (changes: readonly BalanceChange[]) => {
    for (const { requestId, kind, userId, quota, detail = "" } of changes)
      addChange({ requestId, kind, userId, quota, detail });
  };
  const changeAllWith: Ledger["changeAllWith"] = async (work) => {
    // `work` may run several times; the last run is the one that was committed.
    let last: readonly BalanceChange[] = [];
    const isApplied = await ledger.changeAllWith(async (tx) => (last = await work(tx)));
    if (isApplied) addAll(last);
    return isApplied;
  };

  return {
    changeAllWith,
    changeWith: (work) =>
      changeAllWith(async (tx) => {
        const change = await work(tx);
        return change ? [change] : [];
      }),
    async change(change) {
      const isApplied = await ledger.change(change);
      if (isApplied) addAll([change]);
      return isApplied;
    },
    async deposit(hold, terms) {
      await ledger.deposit(hold, terms);
      const { requestId, userId, amount } = hold;
      addChange({ requestId, kind: "deposit", userId, quota: 0 - (terms.amount ?? amount), detail: "" });
    },
    async closeDeposit(close) {
      const isClosed = await ledger.closeDeposit(close);
      const { requestId, userId } = close;
      if (isClosed) addChange({ requestId, kind: "return", userId, quota: 0, detail: "" });
      return isClosed;
    },
  };
}
