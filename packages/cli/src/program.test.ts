import { describe, expect, it } from "vitest";
import { createProgram } from "./program.ts";
import { listExamples } from "./core/arguments.ts";

type Command = ReturnType<typeof createProgram>;

const nothing = () => undefined;
const io = {
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
const program = createProgram("1.2.3", io);

function leaves(command: Command): Command[] {
  const inner = [...command.createHelp().visibleCommands(command)].filter((one) => one.name() !== "help");
  return inner.length === 0 ? [command] : inner.flatMap(leaves);
}

/** Returns a path such as `channel list`. */
function formatCommandPath(command: Command): string {
  return command.parent ? `${formatCommandPath(command.parent)} ${command.name()}`.trim() : "";
}

/** As `--help` prints it in a terminal of 80 columns. */
function printedHelp(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return text;
}

it("has a first help page that fits 80 columns", () => {
  const help = printedHelp(program);
  expect(help).toContain("Exit codes:");
  expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

describe.each(leaves(program).map((command) => [formatCommandPath(command), command] as const))(
  "%s",
  (path, command) => {
    it("says what it does and shows how", () => {
      expect(command.description()).not.toBe("");
      expect(listExamples(command).length).toBeGreaterThan(0);
    });

    it("has a help page that fits 80 columns", () => {
      const help = printedHelp(command);
      expect(help).toContain("Examples:");
      expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
    });

    it("shows no flag that it does not have", () => {
      const known = new Set([...command.options, ...program.options].flatMap(({ long, short }) => [long, short]));
      const own = listExamples(command).filter((line) => line.includes(`fairway ${path} `));
      const used = own.flatMap((line) => line.split(" | ")).filter((part) => part.includes(`fairway ${path}`));
      const flags = used.flatMap((part) => part.match(/(?<= )--?[a-z][a-z-]*/gi) ?? []);
      expect(flags.filter((flag) => !known.has(flag))).toEqual([]);
    });
  },
);
