import { InvalidArgumentError, Option, type Command } from "commander";
import { readStandardInput } from "../terminal/standard-input.ts";

export function positive(text: string): number {
  const value = integer(text);
  if (value < 1) throw new InvalidArgumentError("It must be above 0.");
  return value;
}

export function count(text: string): number {
  const value = integer(text);
  if (value < 0 || value > 1_000_000_000) throw new InvalidArgumentError("It must be from 0 to 1000000000.");
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

/** Names with commas between. */
export function list(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** An id: a number, or a name such as `channel/3`. */
function idIn(text: string, noun: string): number {
  const [, prefix, rest = text] = /^([a-z-]+)\/(.*)$/.exec(text) ?? [];
  if (prefix !== undefined && prefix !== noun) throw new InvalidArgumentError(`It names a ${prefix}, not a ${noun}.`);
  return positive(rest);
}

/** Reads an id as `-o name` prints it, or its number; `-` takes it from standard input. */
export function id(noun: string): (text: string) => number {
  return (text) => {
    if (text !== "-") return idIn(text, noun);
    const [one, ...more] = idsFromInput(noun);
    if (one === undefined || more.length > 0) throw new InvalidArgumentError("Standard input must hold one.");
    return one;
  };
}

/** Collects the ids of a variadic argument. */
export function ids(noun: string): (text: string, before?: number[]) => number[] {
  return (text, before = []) => [...before, ...(text === "-" ? idsFromInput(noun) : [idIn(text, noun)])];
}

/** All of standard input at once: arguments are read before anything waits. */
function idsFromInput(noun: string): number[] {
  if (process.stdin.isTTY) throw new InvalidArgumentError("Standard input is a terminal: pipe ids into it.");
  const found = readStandardInput()
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => idIn(word, noun));
  if (found.length === 0) throw new InvalidArgumentError("Standard input holds none.");
  return found;
}

/** A name with or without its kind before it, as `option/RetryTimes`. */
export function named(noun: string): (text: string) => string {
  return (text) => (text.startsWith(`${noun}/`) ? text.slice(noun.length + 1) : text);
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
