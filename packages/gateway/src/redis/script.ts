import { createHash } from "node:crypto";

/** A Lua script; `sha` is the name under which Redis keeps it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** A script from its Lua text; computes the name once. */
export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** One script call: all `keys` carry the same tag. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** For a script that does the same for each item of a list and answers a list with a place for each. */
  readonly item?: Item;
}

/** Calls of one group differ in their items only: those of one write run as one, in order. */
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
