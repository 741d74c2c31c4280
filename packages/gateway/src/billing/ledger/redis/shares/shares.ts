// A replica that has lost Redis must not spend what the others spend there. While one of them has Redis and the
// database, it makes the reservation in Redis:
//
//   borrower   a row of `balance_shares` asks ──▶ keeper reserves it in Redis, as `share/<request id>`
//   keeper     answers in the row and inserts the reservation into `holds`, in one transaction
//   borrower   serves the request, and settles it in the database like any other that is reserved there
//   keeper     finds that the row of `holds` has ended: the live balance follows the charge, then the share ends
//
// The table `balance_keepers` says which replicas have Redis. While none has it, the database alone decides.
import type { Runnable } from "../../../../lib/async/runnable.ts";
import { AppError } from "../../../../lib/app-error.ts";
import type { OnOutage } from "../../../reservations/live-reservations.ts";
import type { Hold, HoldRefusal, HoldRequest, Ledger } from "../../ledger.ts";
import type { HoldDeps } from "../../sql/holds.ts";
import { renewRunning } from "../../sql/renewal.ts";
import { adoptShares } from "./adoption.ts";
import { createBorrower } from "./borrower.ts";
import { createKeeper, type KeeperDeps } from "./keeper.ts";

export interface SharesDeps extends KeeperDeps {
  readonly onOutage: OnOutage;
  /** Reserves in the database alone. */
  readonly holdInDatabase: Ledger["hold"];
  readonly holdDeps: HoldDeps;
}

/** Reservations in the database, for requests that do not reach Redis. */
export interface Shares extends Runnable {
  hold(request: HoldRequest): Promise<Hold | HoldRefusal>;
  renew: Ledger["renew"];
  /** False while this replica must not use Redis, because the others do not know that it does. */
  readonly isOpen: boolean;
  /** Called when a request did not reach Redis. */
  doubt(): void;
  /** Restores the shares of all replicas in a Redis that lost its data. */
  adopt(): Promise<void>;
}

const RETRY_AFTER_MS = 1_000;

export function createShares(deps: SharesDeps): Shares {
  const { redis, onOutage, holdInDatabase, holdDeps, log } = deps;
  const renewInDatabase: Ledger["renew"] = (hold, seen, amount) => renewRunning(holdDeps, hold, seen, amount);
  // In a cluster, each user depends on a primary of their own, so no replica has Redis for all of them.
  if (onOutage === "deny" || redis.cluster)
    return {
      name: "balance shares",
      isOpen: true,
      start() {},
      async stop() {},
      hold: holdInDatabase,
      renew: renewInDatabase,
      doubt() {},
      adopt: () => Promise.resolve(),
    };
  const keeper = createKeeper(deps);
  const borrower = createBorrower(deps.database, deps.replica);
  return {
    name: "balance shares",
    start: () => keeper.start(),
    stop: () => keeper.stop(),
    get isOpen() {
      return keeper.isOpen;
    },
    doubt: () => keeper.doubt(),
    adopt: () => adoptShares(deps),
    async hold(request) {
      const borrowed = await borrower.ask(request);
      if (borrowed === "alone") return holdInDatabase(request);
      if (borrowed === "late") throw late();
      if ("refused" in borrowed) return borrowed;
      const { requestId, userId, tokenId } = request;
      return { requestId, userId, tokenId, amount: borrowed.amount, leaseUntil: deps.now() + deps.leaseMs };
    },
    async renew(hold, seen, amount) {
      if (amount === undefined) return renewInDatabase(hold, seen);
      if (!(await renewInDatabase(hold, seen))) return false;
      const borrowed = await borrower.askForMore(hold, amount).catch((): "late" => "late");
      if (borrowed === "alone") return renewInDatabase(hold, seen, amount);
      if (borrowed !== "late") return !("refused" in borrowed);
      log.warn("a reservation could not be extended; its request continues", { request_id: hold.requestId });
      return true;
    },
  };
}

function late(): AppError {
  const cause = new Error("the replica that has Redis does not answer");
  return new AppError("balances_unavailable", { cause, retryAfterMs: RETRY_AFTER_MS });
}
