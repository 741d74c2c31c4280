import { Box, Text, useApp, useInput, usePaste, useWindowSize } from "ink";
import { useEffect, useSyncExternalStore } from "react";
import { plainLine, type Signs } from "../../print/signs.ts";
import { createCollector } from "../../terminal/collector.ts";
import { poll } from "../../terminal/poll.ts";
import { drawScreen } from "../../terminal/screen.tsx";
import { isTooSmall, TooSmall } from "../../terminal/small.tsx";
import { keysIn } from "./keys.ts";
import type { Resource } from "./lists/resource.ts";
import { createMachine, type Machine } from "./machine.ts";
import type { Left, Outside } from "./performer.ts";
import type { State } from "./state.ts";
import { bodyHeight, renderFrame, type Line } from "./view.ts";

interface UiProps {
  readonly server: string;
  readonly user: string;
  readonly resources: readonly Resource[];
  readonly state: State;
  readonly outside: Outside;
  readonly signs: Signs;
}

const FOLLOW_MS = 3_000;
/** How often a list that is not followed is read again. */
const REFRESH_MS = 5_000;
/** How many reads happen between two collections of garbage. */
const COLLECTED_READS = 10;

/** Draws on the alternate screen until it is left; the earlier content of the terminal comes back. */
export async function showUi(props: UiProps): Promise<Left> {
  let left: Left = { state: props.state };
  const { promise: hasLeft, resolve } = Promise.withResolvers<void>();
  const leave = (how: Left) => {
    left = how;
    resolve();
  };
  const { resources, state: start, outside } = props;
  const machine = createMachine({ resources, start, outside, leave });
  await drawScreen(<UiScreen {...props} machine={machine} hasLeft={hasLeft} />, {
    alternateScreen: true,
    incrementalRendering: true,
    maxFps: 20,
  });
  // Ink lets the process exit while the terminal is idle; the question after an editor needs it alive.
  if (left.edit) process.stdin.ref();
  return left;
}

function UiScreen({ server, user, signs, machine, hasLeft }: UiProps & { machine: Machine; hasLeft: Promise<void> }) {
  const { exit } = useApp();
  const { columns, rows } = useWindowSize();
  const isSmall = isTooSmall({ columns, rows });
  const height = Math.max(4, rows - 1);
  const state = useSyncExternalStore(machine.subscribe, () => machine.state);
  useEffect(() => void machine.load(), [machine]);
  useEffect(() => void hasLeft.then(() => exit()), [hasLeft, exit]);
  useRefreshing(state.mode === "list" ? findRefresh(state) : undefined, machine.load);
  useInput((input, key) => {
    if (isSmall) return;
    for (const one of keysIn(input, key)) machine.feed(one, bodyHeight(height) - 1, columns);
  });
  usePaste((text) => !isSmall && machine.paste(text));
  if (isSmall) return <TooSmall columns={columns} rows={rows} />;
  const frame = renderFrame(state, { server, user, width: columns, height });
  return (
    <Box flexDirection="column" height={height} overflow="hidden">
      {frame.map((line, at) => (
        // Every frame is drawn as a whole, so the index identifies a line.
        <FrameLine key={at} line={signs === "letters" ? { ...line, text: plainLine(line.text, columns) } : line} />
      ))}
    </Box>
  );
}

/** A log that is not followed stands still, and so does a plan until it is read again on request. */
function findRefresh({ resource, isFollowing }: State): number | undefined {
  if (isFollowing) return FOLLOW_MS;
  return resource.name === "logs" || resource.name === "changes" ? undefined : REFRESH_MS;
}

function useRefreshing(everyMs: number | undefined, load: () => Promise<void>): void {
  useEffect(() => {
    if (everyMs === undefined) return;
    const closing = new AbortController();
    const collect = createCollector(COLLECTED_READS);
    // What opened the list has just read it.
    let isRead = everyMs !== FOLLOW_MS;
    const read = async () => {
      if (!isRead) await load();
      isRead = false;
      collect();
    };
    void poll(closing.signal, everyMs, read);
    return () => closing.abort();
  }, [everyMs, load]);
}

function FrameLine({ line: { text, tone } }: { readonly line: Line }) {
  return (
    <Text
      wrap="truncate"
      bold={tone === "title"}
      dimColor={tone === "quiet"}
      inverse={tone === "chosen"}
      {...(tone === "bad" ? { color: "red" } : tone === "question" ? { color: "yellow" } : {})}
    >
      {text === "" ? " " : text}
    </Text>
  );
}
