import { openRedis } from "../composition/redis.ts";
import { openStorage } from "../composition/storage.ts";
import { checkBalances } from "../billing/audit/balances.ts";
import { checkCounters } from "../billing/audit/counters.ts";
import { checkDeposits } from "../billing/audit/deposits.ts";
import { checkLogRows } from "../billing/audit/log-rows.ts";
import { checkLedgerSums } from "../billing/audit/sums.ts";
import { systemClock } from "../lib/clock.ts";
import { audit, type AuditReport } from "../billing/audit/audit.ts";
import type { Difference } from "../billing/audit/difference.ts";
import { readFlags, UsageError } from "./arguments.ts";
import type { CommandContext } from "./context.ts";

export const LEDGER_USAGE = "fairway-gateway ledger audit [--repair]";

/** Compares values that must be equal: balances in Redis and in the database, and the ledger behind them. */
export async function ledger([what, ...args]: readonly string[], context: CommandContext): Promise<void> {
  if (what !== "audit") throw new UsageError(LEDGER_USAGE);
  const { repair } = readFlags(args, { repair: "boolean" }, LEDGER_USAGE);
  const storage = await openStorage(context.env, context.log);
  const redis = await openRedis(context.env, storage, context.log);
  try {
    const { raw } = storage.database;
    // This comes first, so that live balances are compared with repaired values.
    const recorded = await checkBalances(raw, repair);
    const report = redis
      ? await audit({ redis: redis.client, database: raw, withSums: true, isRepairing: repair })
      : { accounts: 0, busy: 0, differences: await checkLedgerSums(raw) };
    const counters = [...(await checkCounters(raw)), ...(await checkDeposits(raw))];
    const logged = await checkLogRows({
      database: raw,
      logDatabase: storage.logDatabase.raw,
      isLogSeparate: storage.isLogSeparate,
      isRepairing: repair,
      now: systemClock.now(),
    });
    const wrong = new Set(repair ? [] : recorded.map(({ account }) => account));
    // The live balance may be correct even if the balance in the database is wrong.
    const live = report.differences.filter(({ what, account }) => what !== "live balance" || !wrong.has(account));
    const differences = [...recorded, ...live, ...counters, ...logged];
    print({ ...report, differences }, repair, context);
    if (differences.length > 0) process.exitCode = 1;
  } finally {
    await redis?.client.close();
    await storage.close();
  }
}

function print(
  { accounts, busy, differences }: AuditReport,
  isRepairing: boolean,
  { print: line }: CommandContext,
): void {
  for (const { what, account, found, expected } of differences) {
    const by = found - expected;
    const difference = Number.isNaN(by) ? "" : ` (${by > 0 ? "+" : ""}${by})`;
    line(`${account}: ${what} is ${shown(found)}, should be ${shown(expected)}${difference}`);
  }
  const live = `${accounts} live balances compared`;
  const skipped = busy === 0 ? "" : `, ${busy} with charges on their way left out`;
  line(`${live}${skipped}, the ledger of every user, token and channel summed up: ${differences.length} differences.`);
  if (differences.some(isRepairable))
    line(
      isRepairing
        ? "Balances and reservations of the database are what their rows say, live balances are read again from it, lost log rows are restored from the ledger, and wrong amounts of log rows are the ledger's."
        : "With --repair balances and reservations are set to what their rows say, live balances are read again, lost log rows are restored from the ledger, and wrong amounts of log rows are set to the ledger's.",
    );
}

function shown(amount: number): string {
  return Number.isNaN(amount) ? "unlimited" : String(amount);
}

function isRepairable({ what }: Difference): boolean {
  return !["ledger sum", "token sum", "channel sum", "requests", "deposits"].includes(what);
}
