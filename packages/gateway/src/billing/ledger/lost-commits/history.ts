import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { Charge } from "../charge.ts";
import { openJournal } from "../journal/journal.ts";
import type { LedgerKind, Settlement } from "../ledger.ts";

/** A movement of a balance that is no charge of a request. */
export interface BookedChange {
  readonly requestId: string;
  readonly kind: LedgerKind;
  readonly userId: number;
  readonly quota: number;
  readonly detail: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What this process has committed in the last minutes, on its own disk. */
export interface History {
  /** Never throws: without a disk, nothing can be booked again later. */
  addCharge(settlement: Settlement): void;
  addChange(change: BookedChange): void;
  /** Returns everything in parts, oldest first, also of earlier processes on this disk. */
  read(): Iterable<HistoryPart>;
  /** Returns the last entries of each part: a database that went back has lost some of them. */
  readLast(): HistoryPart;
  /** Removes what is older than the time it is retained for. */
  prune(): void;
  readonly bytes: number;
  /** Closes the files after what was added is written. */
  close(): void;
}

export interface HistoryPart {
  readonly charges: readonly Charge[];
  readonly changes: readonly BookedChange[];
}

export interface HistorySettings {
  readonly dir: string;
  /** What another database has committed is ignored. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retentionMs: number;
}

/** Lines are written together: only a crash within this time and a database that goes back at once lose them. */
const FLUSH_MS = 50;
/** Transactions of several connections may be noted in another order than they were committed. */
const LAST = 20;

interface Line {
  readonly database: string;
  readonly charge?: Settlement;
  readonly change?: BookedChange;
}

/** Throws a file system error when the folder is not writable. */
export function openHistory({ identity, log, ...settings }: HistorySettings): History {
  const journal = openJournal({ ...settings, log });
  for (const entry of journal.unacknowledged()) journal.acknowledge(entry, undefined);

  let waiting: Line[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const lines = waiting.map((line) => JSON.stringify(line));
    waiting = [];
    try {
      journal.record(lines);
    } catch (error) {
      log.warn("booked charges could not be written to this disk", { error });
    }
  };
  const add = (line: Line) => {
    waiting.push(line);
    timer ??= setTimeout(flush, FLUSH_MS).unref();
  };

  const parse = (texts: readonly string[]): HistoryPart => {
    const lines = texts.map((text) => JSON.parse(text) as Line).filter(({ database }) => database === identity);
    return {
      charges: lines.flatMap(({ charge }) => (charge ? [{ settlement: charge }] : [])),
      changes: lines.flatMap(({ change }) => change ?? []),
    };
  };

  return {
    addCharge: (charge) => add({ database: identity, charge }),
    addChange: (change) => add({ database: identity, change }),
    *read() {
      flush();
      for (const texts of journal.recent()) yield parse(texts);
    },
    readLast: () => parse([...journal.recent()].flatMap((texts) => texts.slice(-LAST))),
    prune() {
      journal.prunable();
      journal.prune(() => true, { mayRemove: true });
    },
    get bytes() {
      return journal.bytes;
    },
    close() {
      flush();
      journal.close();
    },
  };
}
