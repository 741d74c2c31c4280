import { createHash } from "node:crypto";

/** A Lua script; `sha` identifies it in Redis. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Creates a script from its Lua text; computes the hash once. */
export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** One script call; all `keys` have the same tag. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** Set for a script that does the same for each item of a list and returns a list with one answer per item. */
  readonly item?: Item;
}

/** Calls of one group differ only in their items; the calls of one write run as a single call, in order. */
export interface Item {
  readonly group: string;
  readonly args: readonly (string | number)[];
}

/** One plain command. */
export interface CommandCall {
  readonly command: string;
  readonly args: readonly (string | number)[];
}

export type Call = ScriptCall | CommandCall;
