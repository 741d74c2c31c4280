import type { Channel, Client } from "@fairway/wire";
import { Box, Text, useApp, useInput, useWindowSize, type Key } from "ink";
import { useEffect, useState } from "react";
import { printable } from "../../print/printable.ts";
import { messageOf } from "../../core/problem.ts";
import { act, type Action } from "./actions.ts";
import { channelsOf, orderAfter, SPANS, type Order, type SpanKey } from "./choice.ts";
import { frameOf, PANES, type Pane } from "./frame.ts";
import type { Line } from "./line.ts";
import type { Sample, Sampler, ServerIdentity } from "./sample.ts";
import { poll } from "../../terminal/poll.ts";
import { drawScreen } from "../../terminal/screen.tsx";

interface ScreenProps {
  readonly client: Client;
  readonly place: ServerIdentity;
  readonly sampler: Sampler;
  readonly intervalMs: number;
  readonly now: () => number;
}

/** Draws on a screen of its own until `q`, Escape or Ctrl-C; what stood in the terminal comes back. */
export async function showTop(props: ScreenProps): Promise<void> {
  await drawScreen(<TopScreen {...props} />, { alternateScreen: true, incrementalRendering: true, maxFps: 10 });
}

const HISTORY = 20;

interface Seen {
  readonly sample: Sample;
  readonly history: readonly number[];
}

function TopScreen(props: ScreenProps) {
  const { client, place } = props;
  const { columns, rows } = useWindowSize();
  const [isPaused, setPaused] = useState(false);
  const [changes, setChanges] = useState(0);
  const choice = useChoice(props.intervalMs);
  const { filter, order, span, intervalMs } = choice;
  const { seen, problem } = useSamples(props, { isPaused, changes, intervalMs, spanSeconds: span.seconds });
  const [pane, setPane] = useState<Pane>("calls");
  const [marked, setMarked] = useState(0);
  const [notice, setNotice] = useState("");
  const [asked, setAsked] = useState<Channel>();
  const channels = seen ? channelsOf(seen.sample, { filter, order }) : [];
  const detail = seen?.sample.channels.find(({ id }) => id === choice.detailId);
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
    choice,
    open: (isOpen) => choice.show(isOpen ? channels[chosen]?.id : undefined),
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
    // Two lines more would push the title out.
    height: rows - 3,
    pane,
    history: seen.history,
    filter,
    order,
    span: span.name,
    ...(detail ? { detail } : {}),
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
        {question ?? (choice.isTyping ? `/${filter}` : problem === "" ? notice : `! ${problem}`)}
      </Text>
      <Text dimColor wrap="truncate">
        {isPaused ? "PAUSED" : `every ${Math.round(intervalMs / 1000)} s`} · {keysOf(place.isAdmin)}
      </Text>
    </Box>
  );
}

function keysOf(isAdmin: boolean): string {
  const rest = "pane · ↑↓ · enter detail · s sort · / filter · t test · d disable · e enable";
  return `q quit · p pause · + - interval · 1-4 span · tab ${isAdmin ? rest : "pane"}`;
}

/** Users see themselves alone. */
function paneAfter(pane: Pane, isAdmin: boolean): Pane {
  const panes: readonly Pane[] = isAdmin ? PANES : PANES.filter((one) => one !== "users");
  return panes[(panes.indexOf(pane) + 1) % panes.length] ?? "calls";
}

/** What a person wants to see of the samples. */
interface Choice {
  readonly span: { readonly name: string; readonly seconds: number };
  readonly order: Order;
  readonly filter: string;
  /** The letters of a filter are typed. */
  readonly isTyping: boolean;
  readonly detailId: number | undefined;
  readonly intervalMs: number;
  slowDown(seconds: number): void;
  sum(key: SpanKey): void;
  nextOrder(): void;
  type(change: (before: string) => string): void;
  search(isOn: boolean): void;
  show(id: number | undefined): void;
}

function useChoice(firstMs: number): Choice {
  const [key, sum] = useState<SpanKey>("1");
  const [order, setOrder] = useState<Order>("priority");
  const [filter, type] = useState("");
  const [isTyping, search] = useState(false);
  const [detailId, show] = useState<number>();
  const nextOrder = () => setOrder(orderAfter);
  const [intervalMs, setInterval] = useState(firstMs);
  const slowDown = (seconds: number) => setInterval((before) => Math.max(1_000, before + seconds * 1_000));
  const shown = { span: SPANS[key], order, filter, isTyping, detailId, intervalMs };
  return { ...shown, sum, nextOrder, type, search, show, slowDown };
}

interface Wanted {
  readonly intervalMs: number;
  readonly isPaused: boolean;
  readonly changes: number;
  readonly spanSeconds: number;
}

/** Takes samples at the interval, and immediately when `changes` rises or the span is another. */
function useSamples({ sampler, now }: ScreenProps, { isPaused, changes, intervalMs, spanSeconds }: Wanted) {
  const [seen, setSeen] = useState<Seen>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (isPaused) return;
    const closing = new AbortController();
    void poll(closing.signal, intervalMs, async () => {
      try {
        const sample = await sampler(now(), closing.signal, spanSeconds);
        setSeen((before) => ({ sample, history: [...(before?.history ?? []), sample.rpm].slice(-HISTORY) }));
        setProblem("");
      } catch (error) {
        if (!closing.signal.aborted) setProblem(printable(messageOf(error)));
      }
    });
    return () => closing.abort();
  }, [sampler, intervalMs, now, isPaused, changes, spanSeconds]);
  return { seen, problem };
}

interface Keys {
  /** A channel that is asked about: nothing but an answer counts then. */
  readonly asked: Channel | undefined;
  answer(isMeant: boolean): void;
  readonly choice: Choice;
  open(isOpen: boolean): void;
  move(by: number): void;
  pause(): void;
  nextPane(): void;
  act(action: Action): void;
}

const ACTIONS: Readonly<Record<string, Action>> = { t: "test", d: "disable", e: "enable" };

function useKeys(keys: Keys): void {
  const { exit } = useApp();
  const hasDetail = keys.choice.detailId !== undefined;
  useInput((input, key) => {
    if (keys.asked) keys.answer(input.toLowerCase() === "y");
    else if (keys.choice.isTyping) typed(keys.choice, input, key);
    else if (key.escape) leave();
    else if (key.return) keys.open(!hasDetail);
    else if (key.tab) keys.nextPane();
    else if (key.upArrow) keys.move(-1);
    else if (key.downArrow) keys.move(1);
    // Keys that are held or typed fast come together.
    else onLetters(input);
  });
  const leave = () => (hasDetail ? keys.open(false) : exit());
  const onLetters = (input: string) => {
    const [keysBefore = "", ...text] = input.split("/");
    for (const letter of keysBefore) onLetter(letter);
    if (text.length === 0) return;
    const [filter = "", ...end] = text.join("/").split(/[\r\n]/);
    keys.choice.search(end.length === 0);
    keys.choice.type((before) => before + filter);
  };
  const onLetter = (letter: string) => {
    const action = ACTIONS[letter];
    if (letter === "q") leave();
    else if (letter === "s") keys.choice.nextOrder();
    else if (isSpan(letter)) keys.choice.sum(letter);
    else if (letter === "+" || letter === "-") keys.choice.slowDown(letter === "+" ? 1 : -1);
    else if (letter === "p") keys.pause();
    else if (letter === "k") keys.move(-1);
    else if (letter === "j") keys.move(1);
    else if (action) keys.act(action);
  };
}

/** Enter keeps the filter, Escape takes it away. */
function typed({ type, search }: Choice, input: string, key: Key): void {
  if (key.return || key.escape) {
    if (key.escape) type(() => "");
    return search(false);
  }
  // What is pasted may end its line.
  const [text = "", ...rest] = input.split(/[\r\n]/);
  if (rest.length > 0) search(false);
  if (key.backspace || key.delete) type((before) => before.slice(0, -1));
  else if (!key.ctrl && !key.meta) type((before) => before + text);
}

function isSpan(letter: string): letter is SpanKey {
  return letter in SPANS;
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
