import { audit } from "../billing/audit/audit.ts";
import { buildSlotKey, recordRawEvent } from "../events/record-event.ts";
import type { Clock } from "../lib/clock.ts";
import { forgetIdle } from "../billing/ledger/redis/live-accounts.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { RedisClient } from "../redis/client.ts";
import type { RawDatabase } from "../storage/engines/raw.ts";
import type { ScheduledJob } from "./schedule.ts";

export interface LedgerAuditDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "ledgerAudited">;
}

const HOUR_MS = 3_600_000;
const IDLE_SECONDS = 86_400;
/** A difference that stays is reported once a day. */
const SLOT_MS = 86_400_000;

/**
 * Compares balances in Redis with the database. A difference is a bug of this program: it is logged as an error, and an
 * event says so.
 */
export function ledgerAuditJob({ redis, database, clock, log, metrics }: LedgerAuditDeps): ScheduledJob {
  return {
    name: "ledger-audit",
    isLeaderOnly: true,
    everyMs: HOUR_MS,
    async run() {
      const report = await audit({ redis, database, withSums: false, isRepairing: false });
      metrics.ledgerAudited(report.differences.length);
      for (const difference of report.differences)
        log.error("balances differ: run `ledger audit --repair`", { ...difference });
      if (report.differences.length > 0) await recordDifferences(database, clock.now(), report.differences.length);
      const forgotten = await forgetIdle(redis, IDLE_SECONDS);
      log.info("balances were compared", { accounts: report.accounts, busy: report.busy, forgotten });
    },
  };
}

function recordDifferences(database: RawDatabase, atMs: number, differences: number): Promise<void> {
  const type = "ledger.difference";
  const dedupKey = buildSlotKey(type, "balances", { atMs, ms: SLOT_MS });
  return recordRawEvent(database, database.kind, { type, atMs, dedupKey, data: { differences } });
}
