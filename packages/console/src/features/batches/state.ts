import type { Batch } from "@fairway/wire";
import type { MarkKind } from "../../ui/display/mark.tsx";

export interface BatchState {
  readonly mark: MarkKind;
  readonly text: "creating" | "running" | "booking" | "completed" | "failed" | "expired" | "cancelled" | "stuck";
}

const UNFINISHED: Readonly<Partial<Record<Batch["phase"], BatchState>>> = {
  creating: { mark: "parked", text: "creating" },
  open: { mark: "underway", text: "running" },
  ended: { mark: "caution", text: "booking" },
  stuck: { mark: "stop", text: "stuck" },
};

const ENDS: Readonly<Record<Batch["outcome"], BatchState>> = {
  "": { mark: "go", text: "completed" },
  completed: { mark: "go", text: "completed" },
  failed: { mark: "stop", text: "failed" },
  expired: { mark: "caution", text: "expired" },
  cancelled: { mark: "parked", text: "cancelled" },
};

/** Returns what a batch is doing, or how it ended. */
export function findState({ phase, outcome }: Pick<Batch, "phase" | "outcome">): BatchState {
  return UNFINISHED[phase] ?? ENDS[outcome];
}

/** Phases as the filter of the list names them. */
export const PHASES = {
  creating: "creating",
  open: "running",
  ended: "booking",
  settled: "settled",
  refused: "refused",
  stuck: "stuck",
} as const;

/** Returns whether the batch changes by itself. */
export function isUnderWay({ phase }: Pick<Batch, "phase">): boolean {
  return phase === "creating" || phase === "open" || phase === "ended";
}

type Counts = Pick<Batch, "succeeded" | "failed" | "expired" | "cancelled" | "total">;

/** Returns the share of requests that have an end, in percent. */
export function calculateProgress({ succeeded, failed, expired, cancelled, total }: Counts): number {
  if (total === 0) return 0;
  return Math.min(100, Math.floor(((succeeded + failed + expired + cancelled) / total) * 100));
}
