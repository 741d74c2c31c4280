import { Option, type Command } from "commander";
import type { ChatOptions } from "./chat.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, id } from "../../core/arguments.ts";

export function chatCommands(program: Command, { session, output, io }: CommandContext): void {
  const chat = program
    .command("chat")
    .argument("[prompt]", "piped input follows it; without either, you chat in the terminal")
    .description("ask a model, paid by one of your keys; the bill goes to standard error")
    .option("-m, --model <name>", "optional if the key may call only one model")
    .option("-t, --token <id>", "id or name of the key; the newest usable one when absent", id("token"))
    .addOption(new Option("-g, --group <name>", "the newest usable key of that group").conflicts("token"))
    .option("-s, --system <text>", "how the model is to behave")
    .action(async (prompt: string | undefined, options: ChatOptions) =>
      (await import("./chat.ts")).chat(await session(), prompt, options, { output: output(), io }),
    );
  examples(
    chat,
    'fairway chat --model gpt-4o-mini "Say hello"',
    "git diff | fairway chat -m gpt-4o --token laptop 'Review this change'",
    "fairway chat -m gpt-4o-mini",
  );
}
