import type { Channel, Client } from "@fairway/wire";
import { Box, Text, useApp, useWindowSize } from "ink";
import { useEffect, useState } from "react";
import { printable } from "../../print/printable.ts";
import { plainLine, detectSigns } from "../../print/signs.ts";
import { formatErrorMessage } from "../../core/problem.ts";
import { openPage } from "../../terminal/browser.ts";
import { copyToClipboard } from "../../terminal/clipboard.ts";
import { act, type Action } from "./actions.ts";
import { listShownChannels, PANES, SPANS, type Pane, type Remembered } from "./choice.ts";
import { renderFrame, type Traffic } from "./frame.ts";
import { listHelpLines } from "./help.ts";
import { useChoice } from "./use-choice.ts";
import { useKeys } from "./use-keys.ts";
import type { Line } from "./line.ts";
import type { Sample, Sampler, ServerIdentity } from "./sample.ts";
import { poll } from "../../terminal/poll.ts";
import { drawScreen } from "../../terminal/screen.tsx";
import { isTooSmall, TooSmall } from "../../terminal/small.tsx";

interface ScreenProps {
  readonly client: Client;
  readonly place: ServerIdentity;
  readonly sampler: Sampler;
  readonly now: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The view when the screen was last left. */
  readonly start: Remembered;
}

/** How the screen was left: for good, or for the log of a channel, or of all channels if none is chosen. */
export interface LeftTop extends Remembered {
  readonly log?: { readonly channel: Channel | undefined };
}

/** Draws on the alternate screen until it is left; the earlier content of the terminal comes back. */
export async function showTop(props: ScreenProps): Promise<LeftTop> {
  let left: LeftTop = props.start;
  const leave = (how: LeftTop) => void (left = how);
  await drawScreen(<TopScreen {...props} leave={leave} />, {
    alternateScreen: true,
    incrementalRendering: true,
    maxFps: 10,
  });
  // Ink lets the process exit while the terminal is idle; the log needs it alive.
  if (left.log) process.stdin.ref();
  return left;
}

const HISTORY = 20;
/** Lines above and below the two tables. */
const PAGE_HEAD = 9;

interface Seen {
  readonly sample: Sample;
  readonly history: readonly Traffic[];
}

function TopScreen(props: ScreenProps & { leave(how: LeftTop): void }) {
  const { client, place, env } = props;
  const { exit } = useApp();
  const { columns, rows } = useWindowSize();
  const [isPaused, setPaused] = useState(false);
  const [changes, setChanges] = useState(0);
  const choice = useChoice(props.start);
  const { filter, order, span, intervalMs, pane, chosen: marked } = choice.remembered;
  const { seen, problem } = useSamples(props, { isPaused, changes, intervalMs, spanSeconds: SPANS[span].seconds });
  const [notice, setNotice] = useState("");
  const [asked, setAsked] = useState<Channel>();
  const isSmall = isTooSmall({ columns, rows });
  const channels = seen ? listShownChannels(seen.sample, { filter, order }) : [];
  const detail = seen?.sample.channels.find(({ id }) => id === choice.detailId);
  const last = Math.max(0, channels.length - 1);
  const chosen = Math.min(marked, last);

  const begin = async (action: Action, channel: Channel) => {
    setNotice(`${action === "test" ? "Testing" : "Changing"} channel ${channel.id} …`);
    setNotice(printable(await act(client, action, channel)));
    setChanges((count) => count + 1);
  };
  const page = Math.max(1, Math.floor((rows - PAGE_HEAD) / 2));
  useKeys({
    isIdle: isSmall,
    asked,
    page,
    answer: (isMeant) => {
      setAsked(undefined);
      if (asked && isMeant) void begin("disable", asked);
      else setNotice("Nothing was changed.");
    },
    move: (by) => choice.choose((before) => Math.min(Math.max(0, Math.min(before, last) + by), last)),
    pause: () => setPaused(!isPaused),
    refresh: () => setChanges((count) => count + 1),
    nextPane: () => choice.show(paneAfter(pane, place.isAdmin)),
    choice,
    open: (isOpen) => choice.open(isOpen ? channels[chosen]?.id : undefined),
    act: (action) => {
      const channel = channels[chosen];
      if (!channel) return;
      if (action === "disable") setAsked(channel);
      else void begin(action, channel);
    },
    log: () => {
      props.leave({ ...choice.remembered, log: { channel: channels[chosen] } });
      exit();
    },
    copy: () => channels[chosen] && setNotice(copyToClipboard(String(channels[chosen].id))),
    browse: () => {
      const url = `${place.server.replace(/\/$/, "")}/channel`;
      openPage(url, env);
      setNotice(`The page is ${url}`);
    },
  });

  if (isSmall) return <TooSmall columns={columns} rows={rows} />;
  if (!seen) return <Text>{problem === "" ? `Asking ${place.server} …` : `! ${problem}`}</Text>;
  const signs = detectSigns(env);
  const shown = (text: string) => (signs === "letters" ? plainLine(text, columns) : text);
  const help = listHelpLines(place.isAdmin).map((text): Line => ({ text }));
  const frame = choice.isHelp
    ? help
    : renderFrame(place, seen.sample, {
        width: columns,
        // Two more lines would push the title out.
        height: rows - 3,
        pane,
        history: seen.history,
        filter,
        order,
        signs,
        span: SPANS[span],
        ...(detail ? { detail } : {}),
        ...(place.isAdmin ? { chosen } : {}),
      });
  const question = asked && `Disable channel ${asked.id} (${printable(asked.name)})? [y/N]`;
  return (
    <Box flexDirection="column" height={rows - 1}>
      <Box flexDirection="column" flexGrow={1} overflow="hidden">
        {frame.map((line, at) => (
          // Every frame is drawn as a whole, so the index identifies a line.
          <FrameLine key={at} line={{ ...line, text: shown(line.text) }} />
        ))}
      </Box>
      <Text color={problem === "" ? "yellow" : "red"} wrap="truncate">
        {shown(question ?? (choice.isTyping ? `/${filter}` : problem === "" ? notice : `! ${problem}`))}
      </Text>
      <Text dimColor wrap="truncate">
        {shown(`${isPaused ? "PAUSED" : `every ${Math.round(intervalMs / 1000)} s`} · ${formatKeys(place.isAdmin)}`)}
      </Text>
    </Box>
  );
}

function formatKeys(isAdmin: boolean): string {
  return `q quit · ? help · p pause · l log · tab pane${isAdmin ? " · enter detail · / filter · t d e test, disable, enable" : ""}`;
}

/** Users see only themselves. */
function paneAfter(pane: Pane, isAdmin: boolean): Pane {
  const panes: readonly Pane[] = isAdmin ? PANES : PANES.filter((one) => one !== "users");
  return panes[(panes.indexOf(pane) + 1) % panes.length] ?? "calls";
}

interface Wanted {
  readonly intervalMs: number;
  readonly isPaused: boolean;
  readonly changes: number;
  readonly spanSeconds: number;
}

/** Takes samples at the interval, and immediately when `changes` rises or the span changes. */
function useSamples({ sampler, now }: ScreenProps, { isPaused, changes, intervalMs, spanSeconds }: Wanted) {
  const [seen, setSeen] = useState<Seen>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (isPaused) return;
    const closing = new AbortController();
    void poll(closing.signal, intervalMs, async () => {
      try {
        const sample = await sampler(now(), closing.signal, spanSeconds);
        setSeen((before) => ({ sample, history: [...(before?.history ?? []), sample].slice(-HISTORY) }));
        setProblem("");
      } catch (error) {
        if (!closing.signal.aborted) setProblem(printable(formatErrorMessage(error)));
      }
    });
    return () => closing.abort();
  }, [sampler, intervalMs, now, isPaused, changes, spanSeconds]);
  return { seen, problem };
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
