import { seconds, type Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";

export interface KeyUsesDeps {
  readonly raw: Pick<RawDatabase, "run">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** A busy key writes its row once a minute at most, by whichever replica is first. */
const USED_EVERY_SECONDS = 60;

/** Returns a function that stores when a replaced key is used, so that its owner sees who has not moved yet. */
export function createKeyUses({ raw, clock, log }: KeyUsesDeps): (keyId: number) => void {
  return (keyId) => {
    const now = seconds(clock);
    const sql = "update token_keys set last_used_at = ? where id = ? and last_used_at <= ?";
    // The call does not wait: a lost time is written with the next use.
    raw.run(sql, [now, keyId, now - USED_EVERY_SECONDS]).catch((error: unknown) => {
      log.warn("the use of a replaced key was not stored", { error });
    });
  };
}
