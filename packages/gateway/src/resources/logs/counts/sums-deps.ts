import type { Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../storage/database.ts";

export interface SumsDeps {
  /** Holds `logs`. */
  readonly database: Database;
  /** Holds the hourly sums. */
  readonly sums: Database;
  readonly clock: Clock;
}
