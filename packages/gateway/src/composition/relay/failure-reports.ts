import { keyNumber } from "@fairway/wire";
import { buildSlotKey, recordEvent } from "../../events/record-event.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { BreakerOpening } from "../../relay/selection/shared-health.ts";
import type { GuardrailPolicy } from "../../snapshot/guardrail-policy.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";
import type { Database } from "../../storage/database.ts";

export interface FailureReportsDeps {
  readonly database: Pick<Database, "db">;
  readonly snapshots: Pick<SnapshotStore, "current">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A rest this long is at least the third in a row: the channel still failed after two trials. */
const REPORTED_MS = 40_000;
/** Replicas that see the same failure within an hour write one event. */
const SLOT_MS = 3_600_000;

/** Returns what records, in the background, that the guardrail gives no verdicts. */
export function createGuardrailReports({ database, clock, log }: Omit<FailureReportsDeps, "snapshots">) {
  return (reason: string, { onFailure }: Pick<GuardrailPolicy, "onFailure">): void => {
    const type = "guardrail.failing";
    const atMs = clock.now();
    const dedupKey = buildSlotKey(type, "webhook", { atMs, ms: SLOT_MS });
    recordEvent(database.db, { type, atMs, dedupKey, data: { reason, on_failure: onFailure } }).catch(
      (error: unknown) => log.warn("the event of a failing guardrail was not written", { error }),
    );
  };
}

/** Returns what records, in the background, that calls of a channel keep failing. */
export function createFailureReports({ database, snapshots, clock, log }: FailureReportsDeps) {
  return (channelId: number, { keyIndex, forMs }: BreakerOpening): void => {
    if (forMs < REPORTED_MS) return;
    const type = "channel.failing";
    const atMs = clock.now();
    const name = snapshots.current().channels.get(channelId)?.name ?? "";
    const until = Math.ceil((atMs + forMs) / 1000);
    recordEvent(database.db, {
      type,
      atMs,
      dedupKey: buildSlotKey(type, channelId, { atMs, ms: SLOT_MS }),
      data: { id: channelId, name, number: keyNumber(keyIndex), until },
    }).catch((error: unknown) => log.warn("the event of a failing channel was not written", { channelId, error }));
  };
}
