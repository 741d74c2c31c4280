import type { JsonValue } from "../../dialects/core/types.ts";

/**
 * What a protocol of tasks says about ids. Every member whose name ends in "id" or "hash" names something at the
 * upstream's account, which users share: it has to be the caller's own, unless it is excepted here.
 */
export interface TaskIdRules {
  /** Ids that clients choose themselves; the upstream gets another one for each user. */
  readonly derived?: ReadonlySet<string>;
  /** Members that only the gateway reads, or that an option of the operator governs. */
  readonly skipped?: ReadonlySet<string>;
  /** The ids inside a value; none where it names something that every account has. Default: the value. */
  readonly within?: (member: string, value: string) => readonly string[];
}

/** The same for tasks that make things with ids of their own. */
export interface MadeIdRules extends TaskIdRules {
  /** Ids of what a task made, in the upstream's own report, never in words of the client that it repeats. */
  readonly made: (report: JsonValue) => readonly string[];
}
