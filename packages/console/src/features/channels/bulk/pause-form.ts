import type { NewPause } from "../pauses-api.ts";

const HOUR = 3_600;

/** How long a pause lasts. */
export const PAUSE_SPANS = ["tests", "resumed", "1h", "4h", "24h"] as const;
type PauseSpan = (typeof PAUSE_SPANS)[number];

const SECONDS: Readonly<Record<PauseSpan, number>> = {
  tests: 0,
  resumed: 0,
  "1h": HOUR,
  "4h": 4 * HOUR,
  "24h": 24 * HOUR,
};

export interface PauseForm {
  /** Chosen rows; empty if a filter selects. */
  readonly ids: readonly number[];
  /** The number of a provider; "" = any. */
  readonly type: string;
  readonly tag: string;
  readonly span: PauseSpan;
  readonly reason: string;
}

/** Returns true once the form selects channels. */
export function isSelecting({ ids, type, tag }: PauseForm): boolean {
  return ids.length > 0 || type !== "" || tag.trim() !== "";
}

export function buildPause({ ids, type, tag, span, reason }: PauseForm): NewPause {
  const filter = { ...(type !== "" && { type: [Number(type)] }), ...(tag.trim() !== "" && { tag: tag.trim() }) };
  return {
    ...(ids.length > 0 ? { ids: [...ids] } : { filter }),
    ...(SECONDS[span] > 0 && { for_seconds: SECONDS[span] }),
    ...(span === "tests" && { until_tests: true }),
    ...(reason.trim() !== "" && { reason: reason.trim() }),
  };
}
