import { Argument, type Command, type Option } from "commander";
import type { Kind } from "./live-names.ts";
import { INSTALLED_BY, SCRIPTS, SHELLS, type Shell } from "./scripts.ts";
import type { ListNames } from "./words.ts";
import type { Io } from "../../core/io.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { FORMATS } from "../../print/format.ts";
import { examples, type Noun } from "../../core/arguments.ts";

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

const NOUNS: readonly Noun[] = ["channel", "token", "user", "redemption", "budget", "team"];
/** Flags and arguments whose values the gateway knows. */
const KIND_OF: Readonly<Record<string, Kind>> = {
  channel: "channel",
  token: "token",
  user: "user",
  team: "team",
  model: "model",
  "add-model": "model",
  "remove-model": "model",
  "test-model": "model",
  models: "model",
  group: "group",
};

function liveKind(command: Command, place: Argument | Option): Kind | undefined {
  const parent = NOUNS.find((noun) => noun === command.parent?.name());
  if (parent !== undefined && place.name() === "id") return parent;
  if (parent === "channel" && place.name() === "type") return "type";
  return KIND_OF[place.name()];
}

/** The program knows contexts, option keys, calls and formats; the gateway knows the rest. */
function namesFrom(env: Io["env"]): ListNames {
  return async (command, place, begun) => {
    const parent = command.parent?.name();
    if (place.name() === "output") return FORMATS;
    const kind = liveKind(command, place);
    if (kind !== undefined) return (await import("./live-names.ts")).liveNames(env, kind, begun);
    if (place.name() === "context" || (parent === "context" && place.name() === "name"))
      return (await import("../../session/contexts.ts")).contextNames(env);
    if (parent === "option" && place.name() === "key") return (await import("@fairway/wire")).OPTION_KEYS;
    return command.name() === "api" && place.name() === "call" ? [...(await import("../api/api.ts")).CALLS.keys()] : [];
  };
}
