import { InvalidArgumentError, Option, type Command } from "commander";
import { readStandardInput } from "./standard-input.ts";
import { parseSpanSeconds } from "./times.ts";

export function positive(text: string): number {
  const value = integer(text);
  if (value < 1) throw new InvalidArgumentError("It must be above 0.");
  return value;
}

/** Reads a number of rows; infinite for `all`. */
function rowCount(text: string): number {
  return text === "all" ? Number.POSITIVE_INFINITY : positive(text);
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

/** Reads a number of at least 0, with or without a fraction. */
export function decimal(text: string): number {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError("It must be a number from 0, such as 0.75.");
  return Number(text);
}

export function interval(text: string): number {
  const value = parseSpanSeconds(text) ?? positive(text);
  if (value < 1) throw new InvalidArgumentError("It must be above 0.");
  if (value > 3600) throw new InvalidArgumentError("It must be 3600 at most.");
  return value;
}

/** Reads a span of a second or more; returns seconds. */
export function seconds(example: string): (text: string) => number {
  return (text) => {
    const found = parseSpanSeconds(text);
    if (found === undefined || found < 1) throw new InvalidArgumentError(`Write a span such as ${example}.`);
    return found;
  };
}

/** Reads names separated by commas. */
export function list(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** Kinds of things that an argument names by id or by name. */
export type Noun = "channel" | "token" | "user" | "redemption" | "budget" | "team";

/** An argument that names a resource: an id, or a name that is resolved when the command runs. */
export type Reference = number | { readonly noun: Noun; readonly name: string };

const KINDS =
  /^(channel|batch|file|token|user|team|redemption|budget|log|option|model|request|context|group|task|drawing|call)\/(.+)$/;

/** A number is an id; `channel/3` and `channel/openai` name the kind themselves; anything else is a name. */
function referenceIn(text: string, noun: Noun): Reference {
  const [, prefix, rest = text] = KINDS.exec(text) ?? [];
  if (prefix !== undefined && prefix !== noun) throw new InvalidArgumentError(`It names a ${prefix}, not a ${noun}.`);
  const name = rest.trim();
  if (name === "") throw new InvalidArgumentError("It must be an id or a name.");
  return /^-?\d{1,15}$/.test(name) ? positive(name) : { noun, name };
}

/** Reads an id, a name, or what `-o name` prints; `-` takes it from standard input. */
export function id(noun: Noun): (text: string) => Reference {
  return (text) => {
    if (text !== "-") return referenceIn(text, noun);
    const [one, ...more] = referencesFromInput(noun);
    if (one === undefined || more.length > 0) throw new InvalidArgumentError("Standard input must hold one.");
    return one;
  };
}

/** Collects the ids and names of a variadic argument. */
export function ids(noun: Noun): (text: string, before?: Reference[]) => Reference[] {
  return (text, before = []) => [...before, ...(text === "-" ? referencesFromInput(noun) : [referenceIn(text, noun)])];
}

/**
 * Reads all of standard input at once, because arguments are read before anything waits. A line with blanks is a name
 * unless all its words are ids.
 */
function referencesFromInput(noun: Noun): Reference[] {
  if (process.stdin.isTTY) throw new InvalidArgumentError("Standard input is a terminal: pipe ids into it.");
  const found = readStandardInput()
    .split("\n")
    .flatMap((line) => (/^[\s\d]*$/.test(line) ? line.split(/\s+/) : [line.trim()]))
    .filter((word) => word !== "")
    .map((word) => referenceIn(word, noun));
  if (found.length === 0) throw new InvalidArgumentError("Standard input holds none.");
  return found;
}

/** The value of `--team` for what belongs to no team. */
export const NO_TEAM = "none";

/** Adds the flag that chooses between the user and a team. */
export function withTeam(command: Command, what: string): Command {
  return command.option(
    "--team <team>",
    `${what} of this team, by its short name or id; ${NO_TEAM} for your own in spite of \`team switch\``,
    id("team"),
  );
}

/** Reads a name with or without its kind as a prefix, as in `option/RetryTimes`. */
export function createNameParser(noun: string): (text: string) => string {
  return (text) => (text.startsWith(`${noun}/`) ? text.slice(noun.length + 1) : text);
}

export function yes(): Option {
  return new Option("-y, --yes", "do not ask; without a terminal nothing is done unless this is given");
}

/** Rows that a person sees of a list. */
const SHOWN_ROWS = 100;
const LISTING = new WeakSet<Command>();

/** Adds the flags that choose a part of a list. */
export function withParts(command: Command): Command {
  LISTING.add(command);
  return command
    .addOption(
      new Option(
        "--limit <count>",
        `rows at most, or all; ${SHOWN_ROWS} in a terminal and all in a pipe when absent`,
      ).argParser(rowCount),
    )
    .addOption(
      new Option("--page <number>", "the rows behind those of the pages before; a page has --limit rows")
        .argParser(positive)
        .default(1),
    );
}

/**
 * Sets `--limit` if the caller did not: a person reads the first rows, while a program that got them would act on a part
 * and not know it.
 */
export function chooseLimit(command: Command, isPiped: boolean): void {
  if (!LISTING.has(command) || command.getOptionValue("limit") !== undefined) return;
  command.setOptionValueWithSource("limit", isPiped ? Number.POSITIVE_INFINITY : SHOWN_ROWS, "default");
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Adds usage examples below the help of a command. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  EXAMPLES.set(command, lines);
  return command.addHelpText("after", ["", "Examples:", ...lines.map((line) => broken(`  ${line}`))].join("\n"));
}

const HELP_WIDTH = 80;

/** Breaks a long shell line into continued lines. */
function broken(line: string): string {
  if (line.length <= HELP_WIDTH) return line;
  const at = line.lastIndexOf(" ", HELP_WIDTH - 2);
  return `${line.slice(0, at)} \\\n${broken(`    ${line.slice(at + 1)}`)}`;
}

export function listExamples(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}
