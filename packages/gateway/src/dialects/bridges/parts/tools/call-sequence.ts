import { isAnotherCall } from "../../../core/chat-calls.ts";
import { anyText, number, object, objects, text } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";
import { readArguments, isNothing } from "./arguments.ts";
import { newCallId } from "../answer/ids.ts";

export interface SequencedCall {
  id: string;
  name: string;
}

export type CallStep =
  | { readonly type: "open"; readonly call: SequencedCall }
  | { readonly type: "arguments"; readonly call: SequencedCall; readonly text: string }
  | { readonly type: "close"; readonly call: SequencedCall };

interface Entry extends SequencedCall {
  /** The id that the upstream sent; "" if there is none. */
  given: string;
  /** Arguments that arrived while another call was open, or before the name. */
  waiting: string;
}

/**
 * Puts the tool calls of a chat stream one after the other: protocols with numbered blocks have only one open at a
 * time, so the parts of a later call wait until the earlier one is closed.
 */
export class CallSequence {
  readonly #calls = new Map<number, Entry>();
  readonly #queue: Entry[] = [];
  #open: Entry | undefined;

  /** The number of calls seen so far. */
  get size(): number {
    return this.#calls.size;
  }

  /** Takes one item of `delta.tool_calls`. */
  take(part: JsonObject): CallStep[] {
    const target = object(part, "function") ?? object(part, "custom");
    const index = number(part, "index") ?? this.#findCallIndex(text(part, "id"));
    const last = this.#calls.get(index);
    const known = last !== undefined && isAnotherCall(part, last.given) ? undefined : last;
    const given = anyText(part, "id");
    const args = piece(target, known === undefined);
    const call: Entry = known ?? { id: given || newCallId(), given, name: "", waiting: "" };
    if (call.name === "" && given !== "") call.id = call.given = given;
    if (call.name === "") call.name = anyText(target, "name");
    if (known === undefined) {
      this.#calls.set(index, call);
      this.#queue.push(call);
    }
    call.waiting += args;
    return this.#open === undefined ? this.#openNext() : this.#takeWaiting(call);
  }

  /** Opens the first waiting call if it already has its name. */
  #openNext(): CallStep[] {
    const [next] = this.#queue;
    if (next === undefined || next.name === "") return [];
    this.#open = next;
    this.#queue.shift();
    return [{ type: "open", call: next }, ...this.#takeWaiting(next)];
  }

  #takeWaiting(call: Entry): CallStep[] {
    const { waiting } = call;
    if (call !== this.#open || waiting === "") return [];
    call.waiting = "";
    return [{ type: "arguments", call, text: waiting }];
  }

  /** Closes the open call and sends the waiting ones whole. */
  finish(): CallStep[] {
    const steps: CallStep[] = this.#open === undefined ? [] : [{ type: "close", call: this.#open }];
    this.#open = undefined;
    for (const call of this.#queue.splice(0)) {
      steps.push({ type: "open", call });
      if (call.waiting !== "") steps.push({ type: "arguments", call, text: call.waiting });
      steps.push({ type: "close", call });
    }
    return steps;
  }

  /**
   * Returns the index of a call without one: vendors that leave it out send each call whole, so a new id is a new call.
   */
  #findCallIndex(id: string | undefined): number {
    for (const [index, call] of this.#calls) if (id !== undefined && call.id === id) return index;
    return id === undefined && this.#calls.size > 0 ? this.#calls.size - 1 : this.#calls.size;
  }
}

/** Returns the part of the arguments that a delta adds. */
function piece(target: JsonObject | undefined, isFirst: boolean): string {
  const args = readArguments(target);
  return isFirst && isNothing(args) ? "" : args;
}

/** Returns the tool calls of a delta, including a call of the old `function_call` kind. */
export function callDeltas(delta: JsonObject): readonly JsonObject[] {
  const calls = objects(delta, "tool_calls");
  const legacy = object(delta, "function_call");
  return legacy === undefined ? calls : [...calls, { index: 0, function: legacy }];
}
