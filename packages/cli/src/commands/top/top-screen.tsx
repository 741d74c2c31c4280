import type { Channel, Client } from "@fairway/wire";
import { Box, render, Text, useApp, useInput, useWindowSize } from "ink";
import { useEffect, useState } from "react";
import { printable } from "../../print/printable.ts";
import { messageOf } from "../../core/problem.ts";
import { act, type Action } from "./actions.ts";
import { frameOf, PANES, type Line, type Pane } from "./frame.ts";
import type { Sample, Sampler, ServerIdentity } from "./sample.ts";
import { poll } from "../../terminal/poll.ts";

interface ScreenProps {
  readonly client: Client;
  readonly place: ServerIdentity;
  readonly sampler: Sampler;
  readonly intervalMs: number;
  readonly now: () => number;
}

/** Draws on a screen of its own until `q`, Escape or Ctrl-C; what stood in the terminal comes back. */
export async function showTop(props: ScreenProps): Promise<void> {
  const screen = render(<TopScreen {...props} />, { alternateScreen: true, incrementalRendering: true, maxFps: 10 });
  await screen.waitUntilExit();
}

const HISTORY = 20;

interface Seen {
  readonly sample: Sample;
  readonly history: readonly number[];
}

function TopScreen(props: ScreenProps) {
  const { client, place, intervalMs } = props;
  const { columns, rows } = useWindowSize();
  const [isPaused, setPaused] = useState(false);
  const [changes, setChanges] = useState(0);
  const { seen, problem } = useSamples(props, isPaused, changes);
  const [pane, setPane] = useState<Pane>("calls");
  const [marked, setMarked] = useState(0);
  const [notice, setNotice] = useState("");
  const [asked, setAsked] = useState<Channel>();
  const channels = seen?.sample.channels ?? [];
  const last = Math.max(0, channels.length - 1);
  const chosen = Math.min(marked, last);

  const begin = async (action: Action, channel: Channel) => {
    setNotice(`${action === "test" ? "Testing" : "Changing"} channel ${channel.id} …`);
    setNotice(printable(await act(client, action, channel)));
    setChanges((count) => count + 1);
  };
  useKeys({
    asked,
    answer: (isMeant) => {
      setAsked(undefined);
      if (asked && isMeant) void begin("disable", asked);
      else setNotice("Nothing was changed.");
    },
    move: (by) => setMarked((before) => Math.min(Math.max(0, Math.min(before, last) + by), last)),
    pause: () => setPaused(!isPaused),
    nextPane: () => setPane(paneAfter(pane, place.isAdmin)),
    act: (action) => {
      const channel = channels[chosen];
      if (!channel) return;
      if (action === "disable") setAsked(channel);
      else void begin(action, channel);
    },
  });

  if (!seen) return <Text>{problem === "" ? `Asking ${place.server} …` : `! ${problem}`}</Text>;
  const frame = frameOf(place, seen.sample, {
    width: columns,
    height: rows - 1,
    pane,
    history: seen.history,
    ...(place.isAdmin ? { chosen } : {}),
  });
  const question = asked && `Disable channel ${asked.id} (${printable(asked.name)})? [y/N]`;
  return (
    <Box flexDirection="column" height={rows - 1}>
      <Box flexDirection="column" flexGrow={1} overflow="hidden">
        {frame.map((line, at) => (
          // Every frame is drawn as a whole: a line is identified by its position.
          <FrameLine key={at} line={line} />
        ))}
      </Box>
      <Text color={problem === "" ? "yellow" : "red"} wrap="truncate">
        {question ?? (problem === "" ? notice : `! ${problem}`)}
      </Text>
      <Text dimColor wrap="truncate">
        {keysOf(place.isAdmin)} · {isPaused ? "PAUSED" : `every ${Math.round(intervalMs / 1000)} s`}
      </Text>
    </Box>
  );
}

function keysOf(isAdmin: boolean): string {
  return `q quit · p pause · tab ${isAdmin ? "pane · ↑↓ choose · t test · d disable · e enable" : "pane"}`;
}

/** Users see themselves alone. */
function paneAfter(pane: Pane, isAdmin: boolean): Pane {
  const panes: readonly Pane[] = isAdmin ? PANES : PANES.filter((one) => one !== "users");
  return panes[(panes.indexOf(pane) + 1) % panes.length] ?? "calls";
}

/** Takes samples at the interval, and immediately when `changes` rises. */
function useSamples({ sampler, intervalMs, now }: ScreenProps, isPaused: boolean, changes: number) {
  const [seen, setSeen] = useState<Seen>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (isPaused) return;
    const closing = new AbortController();
    void poll(closing.signal, intervalMs, async () => {
      try {
        const sample = await sampler(now(), closing.signal);
        setSeen((before) => ({ sample, history: [...(before?.history ?? []), sample.rpm].slice(-HISTORY) }));
        setProblem("");
      } catch (error) {
        if (!closing.signal.aborted) setProblem(printable(messageOf(error)));
      }
    });
    return () => closing.abort();
  }, [sampler, intervalMs, now, isPaused, changes]);
  return { seen, problem };
}

interface Keys {
  /** A channel that is asked about: nothing but an answer counts then. */
  readonly asked: Channel | undefined;
  answer(isMeant: boolean): void;
  move(by: number): void;
  pause(): void;
  nextPane(): void;
  act(action: Action): void;
}

const ACTIONS: Readonly<Record<string, Action>> = { t: "test", d: "disable", e: "enable" };

function useKeys(keys: Keys): void {
  const { exit } = useApp();
  useInput((input, key) => {
    if (keys.asked) keys.answer(input.toLowerCase() === "y");
    else if (key.escape) exit();
    else if (key.tab) keys.nextPane();
    else if (key.upArrow) keys.move(-1);
    else if (key.downArrow) keys.move(1);
    // Keys that are held or typed fast come together.
    else for (const letter of input) onLetter(letter);
  });
  const onLetter = (letter: string) => {
    const action = ACTIONS[letter];
    if (letter === "q") exit();
    else if (letter === "p") keys.pause();
    else if (letter === "k") keys.move(-1);
    else if (letter === "j") keys.move(1);
    else if (action) keys.act(action);
  };
}

function FrameLine({ line: { text, tone } }: { readonly line: Line }) {
  return (
    <Text
      wrap="truncate"
      bold={tone === "title"}
      dimColor={tone === "quiet"}
      inverse={tone === "chosen"}
      {...(tone === "bad" ? { color: "red" } : {})}
    >
      {text === "" ? " " : text}
    </Text>
  );
}
