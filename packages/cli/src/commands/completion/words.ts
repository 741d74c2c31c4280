import type { Argument, Command, Option } from "commander";

/** A word that may follow on the command line. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** A name alone, or a candidate with its own description. */
export type Name = string | Candidate;

/** Returns names for an argument or a flag value that the command tree does not list itself. */
export type ListNames = (command: Command, place: Argument | Option, begun: string) => Promise<readonly Name[]>;

interface CommandPosition {
  readonly command: Command;
  /** The flag whose value comes next. */
  readonly flag: Option | undefined;
  /** Arguments before this place. */
  readonly given: number;
  /** True after `--`, where nothing is a flag. */
  readonly isPlain: boolean;
}

/** Completes the last word by the words before it; empty if anything may follow, such as a file name. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  listNames: ListNames,
): Promise<Candidate[]> {
  const last = words.at(-1) ?? "";
  // An older PowerShell passes no empty argument; a newer one passes these two characters.
  const begun = last === '""' ? "" : last;
  const place = placeAfter(program, words.slice(0, -1));
  const all = await candidatesAt(program, place, begun, listNames);
  return all.filter(({ word }) => word.startsWith(begun));
}

function placeAfter(program: Command, words: readonly string[]): CommandPosition {
  let place: CommandPosition = { command: program, flag: undefined, given: 0, isPlain: false };
  for (const word of words) {
    if (place.flag) place = { ...place, flag: undefined };
    else if (word === "--" && !place.isPlain) place = { ...place, isPlain: true };
    else if (word.startsWith("-") && !place.isPlain) place = { ...place, flag: flagWithValue(program, place, word) };
    else {
      const inner = place.given === 0 ? place.command.commands.find((one) => namesFor(one).includes(word)) : undefined;
      place = inner ? { ...place, command: inner } : { ...place, given: place.given + 1 };
    }
  }
  return place;
}

function flagWithValue(program: Command, { command }: CommandPosition, word: string): Option | undefined {
  const flag = [...command.options, ...program.options].find(({ long, short }) => long === word || short === word);
  return flag?.required || flag?.optional ? flag : undefined;
}

function namesFor(command: Command): string[] {
  return [command.name(), ...command.aliases()];
}

async function candidatesAt(
  program: Command,
  { command, flag, given, isPlain }: CommandPosition,
  begun: string,
  listNames: ListNames,
): Promise<Candidate[]> {
  if (flag) return namesAt(command, flag, begun, listNames);
  if (begun.startsWith("-") && !isPlain) return listFlags(program, command);
  if (command.commands.length > 0) return command.createHelp().visibleCommands(command).map(aboutCommand);
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[given] ?? (last?.variadic ? last : undefined);
  if (!argument) return [];
  return namesAt(command, argument, begun, listNames);
}

async function namesAt(
  command: Command,
  place: Argument | Option,
  begun: string,
  listNames: ListNames,
): Promise<Candidate[]> {
  const words = place.argChoices ?? (await listNames(command, place, begun));
  return words.map((word) => (typeof word === "string" ? { word, about: place.description } : word));
}

function listFlags(program: Command, command: Command): Candidate[] {
  const help = command.createHelp();
  const flags = [...help.visibleOptions(command), ...(command === program ? [] : help.visibleOptions(program))];
  const seen = new Set<string>();
  return flags.flatMap(({ long, description: about }) => {
    if (!long || seen.has(long)) return [];
    seen.add(long);
    return { word: long, about };
  });
}

function aboutCommand(command: Command): Candidate {
  return { word: command.name(), about: command.description() };
}
