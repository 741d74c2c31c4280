import { parseArgs } from "node:util";

/** The command line cannot be understood; the message says what it should be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

type Kinds = Readonly<Record<string, "string" | "boolean">>;
export type Flags<K extends Kinds> = {
  readonly [N in keyof K]: K[N] extends "string" ? string | undefined : boolean;
};

/** Flags by name, such as `--dry-run`; throws a UsageError with `usage` for everything else. */
export function readFlags<const K extends Kinds>(args: readonly string[], kinds: K, usage: string): Flags<K> {
  const options = Object.fromEntries(Object.entries(kinds).map(([name, type]) => [name, { type }]));
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false });
    const read = (name: string) => values[name] ?? (kinds[name] === "boolean" ? false : undefined);
    return Object.fromEntries(Object.keys(kinds).map((name) => [name, read(name)])) as Flags<K>;
  } catch (cause) {
    throw new UsageError(`${cause instanceof Error ? cause.message : String(cause)}\n${usage}`, { cause });
  }
}
