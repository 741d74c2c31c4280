import { createHash } from "node:crypto";

/** A Lua script; `sha` is the name under which Redis keeps it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** One script call: all `keys` carry the same tag. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** One plain command. */
export interface CommandCall {
  readonly command: string;
  readonly args: readonly (string | number)[];
}

export type Call = ScriptCall | CommandCall;
