import { InvalidArgumentError, Option, type Command } from "commander";

export function positive(text: string): number {
  const value = integer(text);
  if (value < 1) throw new InvalidArgumentError("It must be above 0.");
  return value;
}

export function integer(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function interval(text: string): number {
  const value = positive(text);
  if (value > 3600) throw new InvalidArgumentError("It must be 3600 at most.");
  return value;
}

/** Collects the ids of a variadic argument. */
export function ids(text: string, before?: number[]): number[] {
  return [...(before ?? []), positive(text)];
}

export function yes(): Option {
  return new Option("-y, --yes", "do not ask; without a terminal nothing is done unless this is given");
}

export function limit(): Option {
  return new Option("--limit <count>", "rows at most").argParser(positive).default(100);
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Lines under the help of a command that show how it is used. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  EXAMPLES.set(command, lines);
  return command.addHelpText("after", ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n"));
}

export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}
