import type { Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples } from "../../core/arguments.ts";

export function uiCommands(program: Command, { session, output, io }: CommandContext): void {
  const ui = program
    .command("ui")
    .argument(
      "[resource]",
      "what it opens with: channels, tokens, options, logs, users, budgets, codes or prices; or apply",
    )
    .argument("[files...]", "with apply: documents whose changes it lists and applies")
    .description("browse and operate everything in one screen; ? lists the keys")
    .option("--prune", "with apply: also list what the documents no longer name, to be deleted")
    .option("--read-only", "no key changes anything")
    .option("--plain", "lines instead of a screen, for screen readers; also with INK_SCREEN_READER=true or TERM=dumb")
    .action(
      async (
        resource: string | undefined,
        files: readonly string[],
        options: { readonly prune?: boolean; readonly readOnly?: boolean; readonly plain?: boolean },
      ) =>
        (await import("./ui.ts")).runUi(
          await session({ isScreen: true }),
          { resource, files, ...options },
          output(),
          io,
        ),
    );
  examples(
    ui,
    "fairway ui",
    "fairway ui logs --read-only",
    "fairway ui apply channels.yaml",
    "fairway ui apply --prune deploy/fairway",
  );
}
