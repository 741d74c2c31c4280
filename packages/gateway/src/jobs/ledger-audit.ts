import { audit } from "../billing/audit/audit.ts";
import { forgetIdle } from "../billing/ledger/redis/live-accounts.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { RedisClient } from "../redis/client.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import type { ScheduledJob } from "./schedule.ts";

export interface LedgerAuditDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "ledgerAudited">;
}

const HOUR_MS = 3_600_000;
const IDLE_SECONDS = 86_400;

/**
 * Compares balances in Redis with the database. A difference is a bug of this program and is logged as an error.
 */
export function ledgerAuditJob({ redis, database, log, metrics }: LedgerAuditDeps): ScheduledJob {
  return {
    name: "ledger-audit",
    isLeaderOnly: true,
    everyMs: HOUR_MS,
    async run() {
      const report = await audit({ redis, database, withSums: false, isRepairing: false });
      metrics.ledgerAudited(report.differences.length);
      for (const difference of report.differences)
        log.error("balances differ: run `ledger audit --repair`", { ...difference });
      const forgotten = await forgetIdle(redis, IDLE_SECONDS);
      log.info("balances were compared", { accounts: report.accounts, busy: report.busy, forgotten });
    },
  };
}
