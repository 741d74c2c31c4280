import { paste } from "./answers.ts";
import type { Resource } from "./lists/resource.ts";
import { createPerformer, type Left, type Outside } from "./performer.ts";
import { openCalls, press } from "./press.ts";
import type { State, Step } from "./state.ts";

/** The state of a screen and the calls that its keys start. Each key sees the state that the previous key produced. */
export interface Machine {
  readonly state: State;
  subscribe(onChange: () => void): () => void;
  /** `rows` is the height of a page. */
  feed(key: string, rows: number, width: number): void;
  /** Handles pasted text. */
  paste(text: string): void;
  load(): Promise<void>;
  /** Resolves when all calls that keys started are answered. */
  settled(): Promise<void>;
}

export interface MachineSettings {
  readonly resources: readonly Resource[];
  readonly start: State;
  readonly outside: Outside;
  leave(how: Left): void;
}

export function createMachine({ resources, start, outside, leave }: MachineSettings): Machine {
  let state = start;
  const watchers = new Set<() => void>();
  const running = new Set<Promise<void>>();
  const update = (change: (now: State) => State) => {
    state = change(state);
    for (const watch of watchers) watch();
  };
  const all = [...resources];
  const open = (plan: Resource) => {
    const before = all.findIndex(({ name }) => name === plan.name);
    all.splice(before === -1 ? all.length : before, 1, plan);
  };
  const perform = createPerformer({ resources: all, outside, leave, update, open, now: () => state });
  return {
    get state() {
      return state;
    },
    subscribe(onChange) {
      watchers.add(onChange);
      return () => void watchers.delete(onChange);
    },
    feed(key, rows, width) {
      if (key === "ctrl-z") return leave({ state, isSuspended: true });
      const step: Step = openCalls(state, key, all) ?? press(state, key, all, rows);
      update(() => step.state);
      if (!step.effect) return;
      const call: Promise<void> = perform(step.effect, width).finally(() => void running.delete(call));
      running.add(call);
    },
    paste: (text) => update((now) => paste(now, text)),
    load: () => perform({ type: "load" }, 0),
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
