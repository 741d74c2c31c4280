// The command tree: every command and flag is listed, and every one of the design exists or is known to be elsewhere.
import type { Command } from "commander";
import { expect, test } from "vitest";
import type { Io } from "../src/core/io.ts";
import { VERSION } from "../src/core/version.ts";
import { createProgram } from "../src/program.ts";
import designed from "./designed-tree.json" with { type: "json" };
import tree from "./tree.json" with { type: "json" };

const nothing = () => undefined;
const io: Io = {
  env: {},
  width: undefined,
  isTerminal: false,
  isPiped: true,
  nowSeconds: () => 0,
  useUtc: nothing,
  closeInput: nothing,
  write: nothing,
  out: nothing,
  room: nothing,
  note: nothing,
};
const program = createProgram(VERSION, io);

function leaves(command: Command, words: readonly string[]): (readonly [string, Command])[] {
  const inner = command.commands.filter((one) => !["help", "__complete", "kube"].includes(one.name()));
  if (inner.length === 0) return [[words.join(" "), command]];
  return inner.flatMap((one) => leaves(one, [...words, one.name()]));
}

test("the tree holds every command that there is, and all flags of each", () => {
  const there = new Map(leaves(program, []));
  expect([...there.keys()].toSorted()).toEqual(Object.keys(tree.commands).toSorted());
  const missing = Object.entries(tree.commands).flatMap(([name, flags]) => {
    const known = there.get(name)?.options.map(({ long }) => long) ?? [];
    return flags.filter((flag) => !known.includes(flag)).map((flag) => `${name} ${flag}`);
  });
  expect(missing).toEqual([]);
  const unlisted = [...there].flatMap(([name, command]) => {
    const listed: readonly string[] = (tree.commands as Readonly<Record<string, readonly string[]>>)[name] ?? [];
    return command.options.flatMap(({ long }) => (long && !listed.includes(long) ? [`${name} ${long}`] : []));
  });
  expect(unlisted).toEqual([]);
  const shown = program.createHelp().visibleOptions(program);
  const everywhere = shown.map(({ long }) => long).filter((long) => long !== "--version" && long !== "--help");
  expect(new Set(everywhere)).toEqual(new Set(tree.flags));
});

/** Returns the command of words, which may be aliases; undefined if there is none. */
function commandAt(words: readonly string[], from: Command = program): Command | undefined {
  const [word, ...rest] = words;
  if (word === undefined) return from;
  const found = from.commands.find((one) => one.name() === word || one.aliases().includes(word));
  return found && commandAt(rest, found);
}

function isFlag(command: Command, flag: string): boolean {
  const everywhere = program.options.filter(({ long }) => long !== "--version");
  return [...command.options, ...everywhere].some(({ long, short }) => long === flag || short === flag);
}

test("every command, flag and alias of the design is there, or is known to be elsewhere", () => {
  const missing = Object.entries(designed.commands).flatMap(([name, flags]) => {
    const command = commandAt(name.split(" "));
    if (!command) return [name];
    return flags.filter((flag) => !isFlag(command, flag)).map((flag) => `${name} ${flag}`);
  });
  const notEverywhere = designed.flags.filter((flag) => !isFlag(program, flag));
  expect([...missing, ...notEverywhere].toSorted()).toEqual(Object.keys(designed.elsewhere).toSorted());
  const aliases = Object.entries(designed.aliases).flatMap(([name, others]) =>
    others.filter((other) => commandAt([other])?.name() !== name).map((other) => `${name} ${other}`),
  );
  expect(aliases).toEqual([]);
});

test("every value of the design is a choice of its flag or argument", () => {
  for (const [place, values] of Object.entries(designed.values)) {
    const words = place.split(" ");
    const command = commandAt(words.slice(0, -1));
    const last = words.at(-1);
    const choices = last?.startsWith("--")
      ? command?.options.find(({ long }) => long === last)?.argChoices
      : command?.registeredArguments.find((one) => one.name() === last)?.argChoices;
    expect(choices, place).toEqual(expect.arrayContaining(values));
  }
});

test("what the design names is listed as well", () => {
  const known = Object.keys(tree.commands);
  const own = Object.keys(designed.commands).filter((name) => !name.startsWith("kube ") && name !== "option list");
  expect(own.filter((name) => !known.includes(name))).toEqual([]);
});
