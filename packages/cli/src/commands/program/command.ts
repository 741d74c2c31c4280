import type { Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { EXIT_MEANINGS } from "../../core/exit.ts";
import { VARIABLES } from "../../core/variables.ts";
import { examples } from "../../core/arguments.ts";

/** Commands about the program itself. */
export function programCommands(program: Command, { env, io, output, session }: CommandContext): void {
  const version = program
    .command("version")
    .description("versions of this program and of the gateway")
    .option("--client", "only of this program")
    .action(async (options: { client?: boolean }) =>
      (await import("./version.ts")).showVersion(options.client ? undefined : await session(), output()),
    );
  examples(version, "fairway version", "fairway version --client -o json");
  const man = program
    .command("man")
    .description("print the manual page, for man -l")
    .action(async () => {
      const { manualPage } = await import("./man.ts");
      io.write(manualPage(program, { variables: VARIABLES, exitCodes: EXIT_MEANINGS }));
    });
  examples(man, "fairway man | man -l -");
  const load = () => import("./config.ts");
  const config = program.command("config").description("defaults of the flags, for every context");
  const view = config
    .command("view")
    .alias("list")
    .description("what holds, and where it comes from")
    .action(async () => (await load()).viewSettings(env(), output()));
  examples(view, "fairway config view");
  const get = config
    .command("get")
    .argument("<setting>", "output, timeout or retries")
    .description("print what holds")
    .action(async (name: string) => (await load()).getSetting(env(), name, output()));
  examples(get, "fairway config get output");
  const set = config
    .command("set")
    .argument("<setting>", "output, timeout or retries")
    .argument("<value>", "as its flag takes it; timeout in seconds")
    .description("set a default")
    .action(async (name: string, value: string) => (await load()).setSetting(env(), { name, value }, output()));
  examples(set, "fairway config set output wide", "fairway config set timeout 10");
  const unset = config
    .command("unset")
    .argument("<setting>", "output, timeout or retries")
    .description("take a default back")
    .action(async (name: string) => (await load()).unsetSetting(env(), name, output()));
  examples(unset, "fairway config unset output");
  const edit = config
    .command("edit")
    .description("change the defaults in $EDITOR, as the JSON that they are")
    .action(async () => (await load()).editSettings(env(), { output: output(), io }));
  examples(edit, "EDITOR=nano fairway config edit");
  const path = config
    .command("path")
    .description("print the name of the file")
    .action(async () => io.out((await import("../../session/defaults.ts")).settingsPath(env())));
  examples(path, "cat $(fairway config path)");
}
