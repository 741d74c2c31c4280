import type { Command } from "commander";
import { VERSION } from "../../core/version.ts";
import { listExamples } from "../../core/arguments.ts";

export interface ManualParts {
  /** Environment variables, with what each does. */
  readonly variables: Readonly<Record<string, string>>;
  /** What each exit code means. */
  readonly exitCodes: Readonly<Record<string, string>>;
}

/** Returns the manual page of the program in the man(7) format, from its command tree. */
export function manualPage(program: Command, { variables, exitCodes }: ManualParts): string {
  const lines = [
    `.TH FAIRWAY 1 "" "fairway ${VERSION}" "User Commands"`,
    ".SH NAME",
    `fairway \\- ${escaped(firstLower(program.description()).replace(/\.$/, ""))}`,
    ".SH SYNOPSIS",
    ".B fairway",
    "[flags] command [arguments]",
    ".SH FLAGS OF EVERY COMMAND",
    ...flags(program),
    ".SH COMMANDS",
    ...visible(program).flatMap((one) => sections(one, [])),
    ".SH ENVIRONMENT",
    ...Object.entries(variables).flatMap(([name, about]) => term(name, about)),
    ".SH EXIT STATUS",
    ...Object.entries(exitCodes).flatMap(([code, about]) => term(code, about)),
  ];
  return `${lines.join("\n")}\n`;
}

function visible(command: Command): Command[] {
  return [...command.createHelp().visibleCommands(command)].filter((one) => one.name() !== "help");
}

function sections(command: Command, before: readonly string[]): string[] {
  const words = [...before, command.name()];
  const inner = visible(command);
  if (inner.length > 0) return inner.flatMap((one) => sections(one, words));
  const places = command.registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? "..." : ""}`;
    return one.required ? `<${name}>` : `[${name}]`;
  });
  const shown = listExamples(command);
  return [
    `.SS ${escaped(["fairway", ...words, ...places].join(" "))}`,
    escaped(command.description()),
    ...command.registeredArguments.flatMap((one) => (one.description ? term(one.name(), one.description) : [])),
    ...flags(command),
    ...(shown.length === 0 ? [] : [".PP", ".nf", ...shown.map(escaped), ".fi"]),
  ];
}

function flags(command: Command): string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .flatMap(({ flags: text, description }) => term(text, description));
}

function term(name: string, about: string): string[] {
  return [".TP", `.B ${escaped(name)}`, escaped(about === "" ? name : about)];
}

/** Escapes a line that begins with a dot or a quote, which would be an instruction. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/, "\\&");
}

function firstLower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
