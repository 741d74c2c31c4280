import type { CallInput, logStat } from "@fairway/wire";

/** A filter as the calls of the role take it. */
export interface LogQuery {
  readonly isAdmin: boolean;
  readonly filter: NonNullable<CallInput<typeof logStat>["query"]>;
}
