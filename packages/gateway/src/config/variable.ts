import type { Parse } from "./parsers.ts";

/** One setting that is fixed while the process lives. */
export interface Variable<T> {
  readonly name: string;
  readonly about: string;
  /** Used when the variable is absent or blank; "" where the program has no value then. */
  readonly fallback: string;
  readonly example: string;
  readonly parse: Parse<T>;
  /** Never shown; may also come from the file that `<name>_FILE` names. */
  readonly isSecret?: boolean;
}

export function define<T>(variable: Variable<T>): Variable<T> {
  return variable;
}
