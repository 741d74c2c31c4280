import { STREAM_LOADS } from "./conversions.ts";
import { table } from "../report.ts";
import type { StreamPlan } from "./plan.ts";
import type { StreamFigures } from "./streams.ts";

const STREAMS_HEADING = "## Conversions and long streams";
const MAX_TIMES = 1.5;
const MAX_KIB = 64;
const MAX_DELAY_MS = 20;

/** Returns the section of the page that `npm run bench -- --streams` replaces. */
export function streamsSection(figures: StreamFigures, plan: StreamPlan, at: Date): string {
  const { conversions, long, delays } = figures;
  const times = conversions.slice(1).flatMap(({ ratio }) => Object.values(ratio));
  const kib = long.filter(({ name }) => name !== "OpenAI Responses").map(({ grownKib }) => grownKib);
  return [
    STREAMS_HEADING,
    "",
    `Measured on ${at.toISOString().slice(0, 10)} with the embedded database; the upstream speaks chat only. ${plan.rounds} round(s) of ${plan.seconds} s a load, clients in turn.`,
    "",
    ...table(
      ["limit", "allowed", "measured"],
      [
        ["a converted stream, times the same one passed through", MAX_TIMES.toFixed(1), most(times, 2)],
        [
          `KiB that a stream of ${count(plan.longChunks)} chunks grows by, Responses aside`,
          String(MAX_KIB),
          most(kib, 0),
        ],
        [
          "ms of CPU in one turn while 1 MiB of text is counted: so long no chunk is served",
          String(MAX_DELAY_MS),
          delays.whileCounting.turn.toFixed(1),
        ],
      ],
    ),
    "",
    "Microseconds of the gateway per stream of 51 chunks. In brackets: times the stream passed through, the median of rounds.",
    "",
    ...table(
      ["client", ...STREAM_LOADS.map((load) => load.name)],
      conversions.map(({ name, cpu, ratio }) => [
        name,
        ...STREAM_LOADS.map((load) => `${count(cpu[load.name] ?? 0)} (${(ratio[load.name] ?? 0).toFixed(2)})`),
      ]),
    ),
    "",
    `Live memory after a full collection, by stream, while ${plan.longStreams} streams of ${count(plan.longChunks)} chunks rest, four times on their way. The last event of a Responses stream repeats the whole text, so that is held.`,
    "",
    ...table(
      ["client", "KiB at the first rest", "KiB more at most", "bytes more per 1,000 chunks"],
      long.map(({ name, bytesPerThousandChunks, openKib, grownKib }) => [
        name,
        openKib.toFixed(0),
        grownKib.toFixed(0),
        count(bytesPerThousandChunks),
      ]),
    ),
    "",
    "Milliseconds from the upstream's write of a chunk to the client's read, a chunk each 5 ms; whatever else the machine does is in it. The last column is CPU of the gateway's own thread.",
    "",
    ...table(
      ["next to it", "p50", "p99", "most", "longest turn"],
      [
        ["nothing", ...Object.values(delays.alone).map(milliseconds)],
        ["1 MiB of text is counted, again and again", ...Object.values(delays.whileCounting).map(milliseconds)],
      ],
    ),
    "",
  ].join("\n");
}

/** Returns the page with this section replaced, at its end. */
export function withStreams(page: string, section: string): string {
  const at = page.indexOf(STREAMS_HEADING);
  return `${(at < 0 ? page : page.slice(0, at)).trimEnd()}\n\n${section}`;
}

function most(values: readonly number[], digits: number): string {
  return Math.max(...values).toFixed(digits);
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function milliseconds(value: unknown): string {
  return Number(value).toFixed(2);
}
