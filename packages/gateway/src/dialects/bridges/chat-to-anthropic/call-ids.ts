import { plainCallId } from "../../core/call-ids.ts";

/**
 * The ids of a conversation's calls in the form that this API takes: only letters, digits, `_` and `-`, and none of
 * them twice. Some chat servers restart their count in every answer or send no id, and calls of the old `function_call`
 * kind have none.
 */
export class CallIds {
  readonly #used = new Set<string>();
  /** Calls whose result has not been seen yet, by the id that the client knows. */
  readonly #waiting = new Map<string, string[]>();

  ofCall(id: string): string {
    const taken = this.#unused(plain(id));
    this.#used.add(taken);
    this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), taken]);
    return taken;
  }

  ofResult(id: string): string {
    return this.#waiting.get(id)?.shift() ?? plain(id);
  }

  #unused(id: string): string {
    let unused = id;
    for (let number = 2; this.#used.has(unused); number++) unused = `${id}_${number}`;
    return unused;
  }
}

function plain(id: string): string {
  return plainCallId(id).replaceAll(/[^A-Za-z0-9_-]/g, "_") || "call";
}
