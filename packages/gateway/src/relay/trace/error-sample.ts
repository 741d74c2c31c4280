import type { LogRowInput } from "../../storage/log-rows.ts";
import { TRACE_MEMBER } from "./call-trace.ts";

export interface ErrorSampleDeps {
  readonly add: (row: LogRowInput) => void;
  readonly onLost: (rows: number) => void;
}

interface Sampled {
  /** Epoch seconds. */
  readonly now: number;
  /** Most rows of one name in a minute; 0 = no limit. */
  readonly most: number;
  /** Called when the row is written. */
  readonly row: () => LogRowInput;
}

const MINUTE_SECONDS = 60;
/** Most names that are counted in a minute; errors of further names get no row. */
const MAX_NAMES = 10_000;

/** Errors of one name in the current minute. */
interface Count {
  rows: number;
  /** Errors since the last row. */
  left: number;
  readonly last: LogRowInput;
}

/** Writes rows for the first errors of a name in each minute, and at its end one row with the number of the others. */
export function createErrorSample({ add, onLost }: ErrorSampleDeps) {
  const counts = new Map<string, Count>();
  let minute = 0;
  let uncounted = 0;
  const end = (now: number) => {
    for (const { left, last } of counts.values()) if (left > 0) add(repeatedRow(last, left, now));
    counts.clear();
    if (uncounted > 0) onLost(uncounted);
    uncounted = 0;
  };
  const turn = (now: number) => {
    const current = Math.floor(now / MINUTE_SECONDS);
    if (current === minute) return;
    minute = current;
    end(now);
  };
  return {
    take(name: string, { now, most, row }: Sampled): void {
      turn(now);
      const count = counts.get(name);
      if (count && most > 0 && count.rows >= most) count.left += 1;
      else if (!count && counts.size >= MAX_NAMES) uncounted += 1;
      else {
        const last = row();
        counts.set(name, { rows: (count?.rows ?? 0) + 1, left: 0, last });
        add(last);
      }
    },
    /** Ends the minute if it is over. */
    turn,
    end,
  };
}

/** Returns one row for all further errors of a minute. */
function repeatedRow(last: LogRowInput, repeated: number, now: number): LogRowInput {
  const { [TRACE_MEMBER]: _trace, ...detail } = JSON.parse(last.other) as Record<string, unknown>;
  return { ...last, created_at: now, request_id: "", other: JSON.stringify({ ...detail, repeated }) };
}
