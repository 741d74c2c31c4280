import { parseArgs } from "node:util";

/** The command line is invalid; the message describes the correct one. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

type Kinds = Readonly<Record<string, "string" | "strings" | "boolean">>;
export type Flags<K extends Kinds> = {
  readonly [N in keyof K]: K[N] extends "string" ? string | undefined : K[N] extends "strings" ? string[] : boolean;
};

const ABSENT = { string: undefined, strings: [], boolean: false } as const;

/**
 * Returns flags by name, such as `--dry-run`; those of `strings` may be repeated. Throws a UsageError with `usage` for
 * everything else.
 */
export function readFlags<const K extends Kinds>(args: readonly string[], kinds: K, usage: string): Flags<K> {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      { type: kind === "boolean" ? ("boolean" as const) : ("string" as const), multiple: kind === "strings" },
    ]),
  );
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false });
    return Object.fromEntries(
      Object.entries(kinds).map(([name, kind]) => [name, values[name] ?? ABSENT[kind]]),
    ) as Flags<K>;
  } catch (cause) {
    throw new UsageError(`${cause instanceof Error ? cause.message : String(cause)}\n${usage}`, { cause });
  }
}
