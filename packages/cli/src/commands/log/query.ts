import type { CallInput, logStat } from "@fairway/wire";

/** A filter in the form that the calls of the user's role take. */
export interface LogQuery {
  readonly isAdmin: boolean;
  readonly filter: NonNullable<CallInput<typeof logStat>["query"]>;
}
