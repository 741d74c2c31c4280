import { steadyClock } from "../../../lib/clock.ts";
import { type Journal, openJournal } from "../journal/journal.ts";
import type { RedisLedgerSettings } from "./ledger-settings.ts";

/** Opens the journal of this process. Throws a file system error when its folder is not writable. */
export function openOwnJournal(settings: RedisLedgerSettings): Journal {
  const { journalDir: dir, leaseClock: clock = steadyClock, log, retentionMs } = settings;
  return openJournal({ dir, clock, log, ...(retentionMs !== undefined && { retentionMs }) });
}
