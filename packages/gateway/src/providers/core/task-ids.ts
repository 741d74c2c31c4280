import type { JsonValue } from "../../dialects/core/types.ts";

/**
 * The id rules of a task protocol. Every member whose name ends in "id" or "hash" names an object at the upstream's
 * account, which users share. The object must be the caller's own, unless it is excepted here.
 */
export interface TaskIdRules {
  /** Members whose ids clients choose themselves; the upstream gets a different id for each user. */
  readonly derived?: ReadonlySet<string>;
  /** Members that only the gateway reads, or that an operator's option controls. */
  readonly skipped?: ReadonlySet<string>;
  /** Returns the ids inside a value; none if it names something that every account has. Default: the value itself. */
  readonly within?: (member: string, value: string) => readonly string[];
}

/** The id rules for tasks that create objects with ids of their own. */
export interface MadeIdRules extends TaskIdRules {
  /**
   * Returns the ids of the objects that a task created, read from the upstream's own report and never from the client's
   * words that it repeats.
   */
  readonly made: (report: JsonValue) => readonly string[];
}
