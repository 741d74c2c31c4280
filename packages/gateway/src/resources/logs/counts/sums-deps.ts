import type { Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../storage/database.ts";
import type { LogDatabase } from "../../../storage/log-database.ts";

export interface SumsDeps {
  /** Database of `logs`. */
  readonly database: LogDatabase;
  /** Database of the hourly sums. */
  readonly sums: Database;
  readonly clock: Clock;
}
