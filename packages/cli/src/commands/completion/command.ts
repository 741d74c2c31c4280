import { Argument, type Command } from "commander";
import { INSTALLED_BY, SCRIPTS, SHELLS, type Shell } from "./scripts.ts";
import type { NamesOf } from "./words.ts";
import type { CommandContext, Io } from "../../core/command-context.ts";
import { examples } from "../arguments.ts";

export function completionCommands(program: Command, { io }: CommandContext): void {
  const completion = program
    .command("completion")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .description("print the script that completes commands, flags and their values in a shell")
    .action((shell: Shell) => io.out(SCRIPTS[shell]));
  examples(completion, ...SHELLS.map((shell) => INSTALLED_BY[shell]));
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: string[]) => {
      const { candidatesFor } = await import("./words.ts");
      for (const { word, about } of await candidatesFor(program, words, namesFrom(io.env))) io.out(`${word}\t${about}`);
    });
}

/** What is known without a gateway: contexts, keys of options, and calls. */
function namesFrom(env: Io["env"]): NamesOf {
  return async (command, place) => {
    const parent = command.parent?.name();
    if (place.name() === "context" || (parent === "context" && place.name() === "name"))
      return (await import("../../session/contexts.ts")).contextNames(env);
    if (parent === "option" && place.name() === "key") return (await import("@fairway/wire")).OPTION_KEYS;
    return command.name() === "api" && place.name() === "call" ? [...(await import("../api/api.ts")).CALLS.keys()] : [];
  };
}
