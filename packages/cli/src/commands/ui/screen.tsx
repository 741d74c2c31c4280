import { Box, Text, useApp, useInput, useWindowSize } from "ink";
import { useEffect, useSyncExternalStore } from "react";
import { createCollector } from "../../terminal/collector.ts";
import { poll } from "../../terminal/poll.ts";
import { drawScreen } from "../../terminal/screen.tsx";
import { keysIn } from "./keys.ts";
import { createMachine, type Left, type Machine, type Outside } from "./machine.ts";
import type { Resource } from "./resource.ts";
import type { State } from "./state.ts";
import { bodyHeight, frameOf, type Line } from "./view.ts";

interface UiProps {
  readonly server: string;
  readonly user: string;
  readonly resources: readonly Resource[];
  readonly state: State;
  readonly outside: Outside;
}

const FOLLOW_MS = 3_000;
/** Reads between two collections of garbage. */
const COLLECTED_READS = 10;

/** Draws on a screen of its own until it is left; the earlier content of the terminal comes back. */
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
  // Ink lets the process end while the terminal is idle; the question after an editor needs it alive.
  if (left.edit) process.stdin.ref();
  return left;
}

function UiScreen({ server, user, machine, hasLeft }: UiProps & { machine: Machine; hasLeft: Promise<void> }) {
  const { exit } = useApp();
  const { columns, rows } = useWindowSize();
  const height = Math.max(4, rows - 1);
  const state = useSyncExternalStore(machine.subscribe, () => machine.state);
  useEffect(() => void machine.load(), [machine]);
  useEffect(() => void hasLeft.then(() => exit()), [hasLeft, exit]);
  useFollowing(state.isFollowing && state.mode === "list", machine.load);
  useInput((input, key) => {
    for (const one of keysIn(input, key)) machine.feed(one, bodyHeight(height) - 1, columns);
  });
  const frame = frameOf(state, { server, user, width: columns, height });
  return (
    <Box flexDirection="column" height={height} overflow="hidden">
      {frame.map((line, at) => (
        // Every frame is drawn as a whole: a line is identified by its position.
        <FrameLine key={at} line={line} />
      ))}
    </Box>
  );
}

function useFollowing(isOn: boolean, load: () => Promise<void>): void {
  useEffect(() => {
    if (!isOn) return;
    const closing = new AbortController();
    const collect = createCollector(COLLECTED_READS);
    const read = async () => {
      await load();
      collect();
    };
    void poll(closing.signal, FOLLOW_MS, read);
    return () => closing.abort();
  }, [isOn, load]);
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
