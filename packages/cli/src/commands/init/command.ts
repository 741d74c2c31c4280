import type { Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples } from "../../core/arguments.ts";
import type { InitOptions } from "./init.ts";

export function initCommands(program: Command, context: CommandContext): void {
  const init = program
    .command("init")
    .argument("[server]", "address of the gateway; that of the sign-in, or http://127.0.0.1:3000, when absent")
    .description("from a new gateway to the first call: sign in, connect a provider, choose models, test, make a key")
    .option("-u, --username <name>", "to sign in with; the password is asked for")
    .option("--password-stdin", "read the password from standard input")
    .option("--insecure-http", "allow plain http beyond this machine")
    .option("--type <type>", "the provider; see `fairway channel types`")
    .option("--key-file <path>", "file that holds the provider's key")
    .option("--base-url <url>", "instead of the provider's own")
    .option("--models <list>", "comma list; all that the provider offers when absent")
    .option("--name <name>", "of the channel; the provider when absent")
    .option("--token-name <name>", "of the key for clients", "first")
    .option("--no-token", "make no key for clients")
    .option("--plain", "lines instead of a screen, for screen readers; also with INK_SCREEN_READER=true or TERM=dumb")
    .option("-y, --yes", "ask nothing: flags and what is usual answer")
    .action(async (server: string | undefined, options: InitOptions) =>
      (await import("./init.ts")).runInit(server, options, context),
    );
  examples(
    init,
    "fairway init",
    "fairway init https://ai.example.com --type openai --key-file openai.key --models gpt-4o-mini --yes -o json",
  );
}
