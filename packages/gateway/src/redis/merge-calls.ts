import type { Call, Item, ScriptCall } from "./script.ts";

type ItemCall = ScriptCall & { readonly item: Item };

/** Calls to send, in which one call has all items of a group. */
export interface MergedCalls {
  readonly calls: readonly Call[];
  /** Maps the answers of `calls` to the original calls; the error of a group goes to each of its calls. */
  scatter(answers: readonly unknown[]): unknown[];
}

/**
 * Merges the items of each group into one call at the position of the first item: a script that runs once for all items
 * reads and writes its account once.
 */
export function mergeCalls(given: readonly Call[]): MergedCalls {
  const places: number[][] = [];
  const calls: Call[] = [];
  const groups = new Map<string, { readonly at: number; readonly args: (string | number)[] }>();
  for (const [place, call] of given.entries()) {
    const group = isItem(call) ? groups.get(call.item.group) : undefined;
    if (group && isItem(call)) {
      for (const arg of call.item.args) group.args.push(arg);
      places[group.at]?.push(place);
      continue;
    }
    places.push([place]);
    if (!isItem(call)) {
      calls.push(call);
      continue;
    }
    const args = [...call.args, ...call.item.args];
    groups.set(call.item.group, { at: calls.length, args });
    calls.push({ script: call.script, keys: call.keys, args });
  }
  return {
    calls,
    scatter(answers) {
      const scattered: unknown[] = Array.from({ length: given.length });
      for (const [at, of] of places.entries()) {
        const answer = answers[at];
        const isList = isItem(given[of[0] as number] as Call) && Array.isArray(answer);
        for (const [item, place] of of.entries()) scattered[place] = isList ? (answer as unknown[])[item] : answer;
      }
      return scattered;
    },
  };
}

function isItem(call: Call): call is ItemCall {
  return "item" in call && call.item !== undefined;
}
