import type { Parse } from "./parsers.ts";

/** One setting, which is fixed for the lifetime of the process. */
export interface Variable<T> {
  readonly name: string;
  readonly about: string;
  /** Used if the variable is absent or blank; "" if there is no default. */
  readonly fallback: string;
  readonly example: string;
  readonly parse: Parse<T>;
  /** Never shown; may also come from the file that `<name>_FILE` names. */
  readonly isSecret?: boolean;
}

export function define<T>(variable: Variable<T>): Variable<T> {
  return variable;
}
