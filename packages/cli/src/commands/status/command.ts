import type { Command } from "commander";
import type { StatusOptions } from "./status.ts";
import type { TopOptions } from "../top/top.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, interval } from "../../core/arguments.ts";

export function statusCommands(program: Command, { session, output, io }: CommandContext): void {
  const status = program
    .command("status")
    .description("version, balance, traffic and channels at a glance")
    .option("-w, --watch", "keep looking, in a screen of its own")
    .option("--interval <seconds>", "seconds between two updates, an hour at most", interval, 5)
    .action(async (options: StatusOptions) =>
      (await import("./status.ts")).showStatus(
        await session({ isScreen: options.watch === true }),
        options,
        output(),
        io,
      ),
    );
  examples(status, "fairway status -o json | jq .channels", "fairway status --watch --interval 10");
  const top = program
    .command("top")
    .description("live view of calls, channels and their health; keys test, disable and enable a channel")
    .option("--once", "one update as plain text, for scripts and mails")
    .option("--interval <seconds>", "seconds between two updates, an hour at most", interval, 5)
    .action(async (options: TopOptions) =>
      (await import("../top/top.ts")).runTop(await session({ isScreen: options.once !== true }), options, output(), io),
    );
  examples(top, "fairway top", "fairway top --once");
}
