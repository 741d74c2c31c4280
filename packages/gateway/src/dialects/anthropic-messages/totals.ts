import { compact, count, object } from "../core/read.ts";
import type { JsonObject, Usage } from "../core/types.ts";
import { readAnthropicUsage } from "../core/usage.ts";

const COUNTS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];

/**
 * Usage of a stream: the first and last events have counts. Later ones are cumulative, so the largest of each is right.
 */
export class AnthropicTotals {
  #seen: JsonObject | undefined;

  see(usage: JsonObject | undefined): void {
    if (usage === undefined) return;
    const before = this.#seen ?? {};
    const next: JsonObject = { ...before, ...usage };
    for (const name of COUNTS) {
      const largest = Math.max(count(before, name) ?? -1, count(usage, name) ?? -1);
      if (largest >= 0) next[name] = largest;
    }
    next["cache_creation"] = object(usage, "cache_creation") ?? before["cache_creation"];
    next["output_tokens_details"] = object(usage, "output_tokens_details") ?? before["output_tokens_details"];
    this.#seen = next;
  }

  /** The counts seen so far, under the protocol's names. */
  get seen(): JsonObject {
    return compact(this.#seen ?? {});
  }

  get usage(): Usage | undefined {
    return readAnthropicUsage(this.#seen);
  }
}
