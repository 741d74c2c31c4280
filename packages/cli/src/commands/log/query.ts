import type { CallInput, logStat } from "@fairway/wire";

/** A filter in the form that the calls of the user's role take. */
export interface LogQuery {
  readonly isAdmin: boolean;
  /** Set = the rows of this team. */
  readonly team?: number;
  readonly filter: NonNullable<CallInput<typeof logStat>["query"]>;
}
