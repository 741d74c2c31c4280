import { anyText } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";
import { clientResult } from "./client-tools.ts";
import { isFound } from "./search.ts";

export function isOutput(item: JsonObject): boolean {
  const isCalled = item["type"] === "function_call_output" || item["type"] === "custom_tool_call_output";
  return isCalled || isFound(item) || clientResult(item) !== undefined;
}

/** Returns the id of the call that a result answers; results of the local shell have only `id`. */
export function calledBy(item: JsonObject): string {
  return anyText(item, "call_id", "id");
}

/** Results of calls: chat requires them right after their calls, but here other items may be between them. */
export class Results {
  readonly #waiting = new Map<string, JsonObject[]>();

  constructor(items: readonly JsonObject[]) {
    for (const item of items.filter(isOutput)) this.#of(item).push(item);
  }

  /** Takes the results of a message's calls; some servers reuse an id in a later turn. */
  takeFor(calls: readonly JsonObject[]): JsonObject[] {
    return calls.flatMap((call) => this.#waiting.get(anyText(call, "id"))?.splice(0, 1) ?? []);
  }

  /** Takes a result that no earlier call has taken. */
  take(item: JsonObject): JsonObject[] {
    const waiting = this.#of(item);
    const at = waiting.indexOf(item);
    return at < 0 ? [] : waiting.splice(at, 1);
  }

  #of(item: JsonObject): JsonObject[] {
    const id = calledBy(item);
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.set(id, waiting);
    return waiting;
  }
}
