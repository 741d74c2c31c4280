import { Box, render, Text, useApp, useInput, useWindowSize, type Key } from "ink";
import { useCallback, useEffect, useRef, useState } from "react";
import { messageOf } from "../../core/problem.ts";
import { printable } from "../../print/printable.ts";
import { poll } from "../../terminal/poll.ts";
import type { Resource } from "./resources.ts";
import { findResource, loaded, openCalls, press, type Effect, type State, type Step } from "./state.ts";
import { bodyHeight, frameOf, type Line } from "./view.ts";

interface UiProps {
  readonly server: string;
  readonly user: string;
  readonly resources: readonly Resource[];
  readonly state: State;
}

/** How the screen was left: for good, or to edit something. */
export interface Left {
  readonly state: State;
  readonly edit?: { readonly resource: string; readonly key: string };
}

const FOLLOW_MS = 3_000;

/** Draws on a screen of its own until it is left; the earlier content of the terminal comes back. */
export async function showUi(props: UiProps): Promise<Left> {
  let left: Left = { state: props.state };
  const screen = render(<UiScreen {...props} leave={(how) => (left = how)} />, {
    alternateScreen: true,
    incrementalRendering: true,
    maxFps: 20,
  });
  await screen.waitUntilExit();
  // Ink lets the process end while the terminal is idle; the question after an editor needs it alive.
  if (left.edit) process.stdin.ref();
  return left;
}

function UiScreen(props: UiProps & { leave(how: Left): void }) {
  const { server, user, resources } = props;
  const { columns, rows } = useWindowSize();
  const height = Math.max(4, rows - 1);
  const [state, feed] = useMachine(props, columns);
  useInput((input, key) => {
    const name = nameOf(key);
    // Keys that are held or typed fast arrive together.
    for (const one of name === undefined ? input : [name])
      feed((now) => openCalls(now, one, resources) ?? press(now, one, resources, bodyHeight(height) - 1));
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

/** The state, and the calls that its keys start. A key sees the state that the key before it made. */
function useMachine(props: UiProps & { leave(how: Left): void }, width: number) {
  const { resources, leave } = props;
  const { exit } = useApp();
  const [state, setState] = useState(props.state);
  const latest = useRef(state);
  const update = useCallback((change: (now: State) => State) => {
    latest.current = change(latest.current);
    setState(latest.current);
  }, []);
  const load = useCallback(async () => {
    const { resource, scope } = latest.current;
    const isStill = () => latest.current.resource === resource && latest.current.scope === scope;
    try {
      const read = await findResource(resources, resource.name)?.load(scope);
      if (read && isStill()) update((now) => loaded(now, read.items, read.isCut));
    } catch (error) {
      if (isStill()) update((now) => ({ ...now, isLoading: false, problem: printable(messageOf(error)) }));
    }
  }, [resources, update]);
  useEffect(() => void load(), [load]);
  useFollowing(state.isFollowing && state.mode === "list", load);

  const perform = async (effect: Effect) => {
    const resource = findResource(resources, latest.current.resource.name);
    if (effect.type === "quit") return exit();
    if (effect.type === "load") return load();
    if (effect.type === "act" && effect.action === "edit") {
      const { item } = effect;
      leave({ state: latest.current, edit: { resource: latest.current.resource.name, key: item.key } });
      return exit();
    }
    try {
      if (effect.type === "detail") {
        const detail = ((await resource?.detail(effect.item, width)) ?? []).map((line) => printable(line));
        const isStill = latest.current.mode === "list" && latest.current.chosenKey === effect.item.key;
        if (isStill) update((now) => ({ ...now, mode: "detail", detail, offset: 0, notice: "" }));
      } else {
        const notice = printable((await resource?.act(effect.item, effect.action)) ?? "");
        update((now) => ({ ...now, notice }));
        await load();
      }
    } catch (error) {
      update((now) => ({ ...now, notice: `! ${printable(messageOf(error))}` }));
    }
  };
  const feed = (change: (now: State) => Step) => {
    const step = change(latest.current);
    update(() => step.state);
    if (step.effect) void perform(step.effect);
  };
  return [state, feed] as const;
}

function useFollowing(isOn: boolean, load: () => Promise<void>): void {
  useEffect(() => {
    if (!isOn) return;
    const closing = new AbortController();
    void poll(closing.signal, FOLLOW_MS, load);
    return () => closing.abort();
  }, [isOn, load]);
}

function nameOf(key: Key): string | undefined {
  if (key.return) return "enter";
  if (key.escape) return "escape";
  if (key.backspace || key.delete) return "backspace";
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.pageUp) return "pageup";
  return key.pageDown ? "pagedown" : undefined;
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
