import type { Channel } from "@fairway/wire";
import type { Io } from "../../core/io.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";
import { printable } from "../../print/printable.ts";
import { isLinesOnly } from "../../print/signs.ts";
import { loadWidths } from "../../print/width.ts";
import type { Session } from "../../session/session.ts";
import type { Scope } from "../ui/state.ts";
import { createInitialChoice, USUAL_SPAN } from "./choice.ts";
import { renderFrame } from "./frame.ts";
import { createSampler, loadServerIdentity, type ServerIdentity } from "./sample.ts";

export interface TopOptions {
  readonly once?: boolean;
  readonly interval: number;
}

/** Wide enough for all columns uncut. */
const PIPED_WIDTH = 200;

/** Shows a live screen, or prints one frame of it as plain text. */
export async function runTop(session: Session, { once, interval }: TopOptions, output: Output, io: Io): Promise<void> {
  const { client, profile } = session;
  const { server } = profile;
  const isScreen = !once && !isLinesOnly(io.env);
  if (!once && !isForPeople(output))
    throw new CliError(`a screen has no -o ${output.format}`, EXIT.usage, "add --once for one sample");
  if (isScreen && !io.isTerminal)
    throw new CliError("top needs a terminal", EXIT.usage, "use `fairway top --once` in scripts");
  await loadWidths();
  const place = await loadServerIdentity(client, server);
  if (isScreen) return watch(session, { place, intervalMs: interval * 1000 }, output, io);
  const sample = await createSampler(client, place)(io.nowSeconds(), new AbortController().signal, USUAL_SPAN.seconds);
  if (!isForPeople(output)) return printOne(output, { server, version: place.version, ...sample });
  const frame = renderFrame(place, sample, { width: output.width ?? PIPED_WIDTH, pane: "calls" });
  output.out(frame.map(({ text }) => text.trimEnd()).join("\n"));
}

interface Watching {
  readonly place: ServerIdentity;
  readonly intervalMs: number;
}

/** Shows the screen, and again after each visit to the log. */
async function watch(session: Session, { place, intervalMs }: Watching, output: Output, io: Io): Promise<void> {
  const { client } = session;
  const { showTop } = await import("./top-screen.tsx");
  const sampler = createSampler(client, place);
  let start = createInitialChoice(intervalMs);
  for (;;) {
    const { log, ...left } = await showTop({ client, place, sampler, start, now: io.nowSeconds, env: io.env });
    if (!log) return;
    start = left;
    const { runUi } = await import("../ui/ui.ts");
    const scope = log.channel && buildScope(log.channel);
    await runUi(session, { resource: "logs", files: [], ...(scope && { scope }) }, output, io);
  }
}

function buildScope({ id, name }: Channel): Scope {
  return { channel: String(id), label: `channel ${id} (${printable(name)})`, isFailing: false };
}
