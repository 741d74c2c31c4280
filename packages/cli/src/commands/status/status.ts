import { formatTime } from "@fairway/wire";
import type { Io } from "../../core/command-context.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";
import { overviewOf, rateText } from "./overview.ts";

export interface StatusOptions {
  readonly watch?: boolean;
  readonly interval: number;
}

/** Prints the state once, or draws a screen that follows it. */
export async function showStatus(
  { client, profile }: Session,
  options: StatusOptions,
  output: Output,
  { isTerminal }: Io,
): Promise<void> {
  if (options.watch) {
    if (!isForPeople(output))
      throw new CliError(`a screen has no -o ${output.format}`, EXIT.usage, "leave out --watch for one sample");
    if (!isTerminal)
      throw new CliError("--watch needs a terminal", EXIT.usage, "use `fairway status -o json` in scripts");
    return (await import("./status-screen.tsx")).showStatus({
      client,
      server: profile.server,
      intervalMs: options.interval * 1000,
    });
  }
  const overview = await overviewOf(client, profile.server, new AbortController().signal);
  const { channels } = overview;
  const words = {
    server: `${overview.server} (${overview.name} ${overview.version}, since ${formatTime(overview.startedAt)})`,
    user: `${overview.user}, balance ${overview.balance}`,
    "last minute": rateText(overview),
    ...(channels
      ? {
          channels: `${channels.enabled} enabled, ${channels.disabled} disabled, ${channels.autoDisabled} auto-disabled`,
        }
      : {}),
  };
  await printOne(output, overview, { words });
}
