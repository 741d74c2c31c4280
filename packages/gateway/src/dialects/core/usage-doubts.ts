import { count, isSet } from "./read.ts";
import type { JsonObject, Usage, UsageRule } from "./types.ts";

const MAX_TEXT = 32;

/** Collects the contradictions in one report of usage; costs nothing if there are none. */
export class UsageDoubts {
  #found: Record<string, number | string | null> | undefined;

  /** Reads a count of the report; a value that is set but is not a count is noted. */
  count(from: JsonObject | undefined, key: string): number | undefined {
    const value = count(from, key);
    if (value !== undefined) return value;
    const said = from?.[key];
    if (isSet(said))
      this.note(`invalid_${key}`, typeof said === "number" ? said : String(JSON.stringify(said)).slice(0, MAX_TEXT));
    return undefined;
  }

  /** Reads a count in the same way; a missing count is zero. */
  tokens(from: JsonObject | undefined, key: string): number {
    return this.count(from, key) ?? 0;
  }

  /** Bounds a part, which is never more than its whole. */
  part(rule: UsageRule, part: number, whole: number): number {
    if (part <= whole) return part;
    this.note(rule, part);
    return whole;
  }

  /** Notes a total that differs from its parts; the parts win. */
  total(total: number | undefined, parts: number): void {
    if (total !== undefined && total !== parts) this.note("total_contradicts", total);
  }

  note(rule: UsageRule, reported: number | string | null): void {
    this.#found = { ...this.#found, [rule]: reported };
  }

  /** The members for the usage. */
  get members(): Pick<Usage, "doubts"> | undefined {
    return this.#found && { doubts: this.#found };
  }
}

/** Returns `usage` with another rule noted. */
export function withDoubt(usage: Usage, rule: UsageRule, reported: number): Usage {
  return { ...usage, doubts: { ...usage.doubts, [rule]: reported } };
}
