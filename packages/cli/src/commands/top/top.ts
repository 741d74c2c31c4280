import type { Io } from "../../core/command-context.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";
import { loadWidths } from "../../print/width.ts";
import type { Session } from "../../session/session.ts";
import { frameOf } from "./frame.ts";
import { createSampler, placeOf } from "./sample.ts";

export interface TopOptions {
  readonly once?: boolean;
  readonly interval: number;
}

/** Wide enough for all columns where nothing is cut. */
const PIPED_WIDTH = 200;

/** A live screen, or one frame of it as plain text. */
export async function runTop(
  { client, profile: { server } }: Session,
  { once, interval }: TopOptions,
  output: Output,
  io: Io,
): Promise<void> {
  if (!once && !isForPeople(output))
    throw new CliError(`a screen has no -o ${output.format}`, EXIT.usage, "add --once for one sample");
  if (!once && !io.isTerminal)
    throw new CliError("top needs a terminal", EXIT.usage, "use `fairway top --once` in scripts");
  await loadWidths();
  const place = await placeOf(client, server);
  if (!once)
    return (await import("./top-screen.tsx")).showTop({
      client,
      place,
      sampler: createSampler(client, place),
      intervalMs: interval * 1000,
      now: io.nowSeconds,
    });
  const sample = await createSampler(client, place)(io.nowSeconds(), new AbortController().signal);
  if (!isForPeople(output)) return printOne(output, { server, version: place.version, ...sample });
  const frame = frameOf(place, sample, { width: output.width ?? PIPED_WIDTH, pane: "calls" });
  output.out(frame.map(({ text }) => text.trimEnd()).join("\n"));
}
