import type { ProbeAnswer } from "../observability/health.ts";
import type { CollectedMetric } from "../observability/exposition.ts";

/** The message that a worker sends after its start. */
export interface WorkerStarted {
  readonly url: string;
  /** A password that was just generated for the first account. */
  readonly madePassword: string | undefined;
  readonly hasDefaultPassword: boolean;
}

/** A message from the primary to a worker: a question with a number, which the response repeats. */
export type Question =
  | { readonly kind: "probe"; readonly id: number; readonly path: string; readonly isVerbose: boolean }
  | { readonly kind: "metrics"; readonly id: number };

/** A message from a worker to the primary. */
export type Report =
  | { readonly kind: "started"; readonly started: WorkerStarted }
  | { readonly kind: "probe"; readonly id: number; readonly answer: ProbeAnswer }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly CollectedMetric[] }
  /** The last counts of a worker that exits in an orderly way. */
  | { readonly kind: "stopping"; readonly metrics: readonly CollectedMetric[] };
