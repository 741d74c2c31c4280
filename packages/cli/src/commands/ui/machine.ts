import { messageOf } from "../../core/problem.ts";
import { printable } from "../../print/printable.ts";
import type { Resource } from "./resources.ts";
import {
  findResource,
  loaded,
  openCalls,
  press,
  type Action,
  type Effect,
  type Item,
  type State,
  type Step,
} from "./state.ts";

/** How a screen was left: for good, or to edit something. */
export interface Left {
  readonly state: State;
  readonly edit?: { readonly resource: string; readonly key: string };
}

/** The state of a screen and the calls that its keys start. A key sees the state that the key before it made. */
export interface Machine {
  readonly state: State;
  subscribe(onChange: () => void): () => void;
  /** `rows` is the height of a page. */
  feed(key: string, rows: number, width: number): void;
  load(): Promise<void>;
  /** Resolves when all calls that keys started are answered. */
  settled(): Promise<void>;
}

export interface MachineSettings {
  readonly resources: readonly Resource[];
  readonly start: State;
  leave(how: Left): void;
}

type Update = (change: (now: State) => State) => void;

export function createMachine({ resources, start, leave }: MachineSettings): Machine {
  let state = start;
  const watchers = new Set<() => void>();
  const running = new Set<Promise<void>>();
  const update: Update = (change) => {
    state = change(state);
    for (const watch of watchers) watch();
  };
  const perform = createPerformer({ resources, leave, update, now: () => state });
  return {
    get state() {
      return state;
    },
    subscribe(onChange) {
      watchers.add(onChange);
      return () => void watchers.delete(onChange);
    },
    feed(key, rows, width) {
      const step: Step = openCalls(state, key, resources) ?? press(state, key, resources, rows);
      update(() => step.state);
      if (!step.effect) return;
      const call: Promise<void> = perform(step.effect, width).finally(() => void running.delete(call));
      running.add(call);
    },
    load: () => perform({ type: "load" }, 0),
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

interface PerformerSettings extends Omit<MachineSettings, "start"> {
  readonly update: Update;
  now(): State;
}

/** Makes the calls of keys and puts their answers into the state. */
function createPerformer({ resources, leave, update, now: stateNow }: PerformerSettings) {
  const load = async () => {
    const { resource, scope, search, pages } = stateNow();
    const isStill = () => isSame(stateNow(), { resource, scope, search });
    try {
      const read = await findResource(resources, resource.name)?.load({ scope, search, pages });
      if (read && isStill()) update((now) => loaded(now, read.items, read.isCut));
    } catch (error) {
      if (isStill()) update((now) => ({ ...now, isLoading: false, problem: printable(messageOf(error)) }));
    }
  };

  const openDetail = async (item: Item, width: number): Promise<void> => {
    const read = (await findResource(resources, stateNow().resource.name)?.detail(item, width)) ?? [];
    const detail = read.map((line) => printable(line));
    const isStill = stateNow().mode === "list" && stateNow().chosenKey === item.key;
    if (isStill) update((now) => ({ ...now, mode: "detail", detail, offset: 0, notice: "" }));
  };

  const act = async (item: Item, action: Action): Promise<void> => {
    const said = (await findResource(resources, stateNow().resource.name)?.act(item, action)) ?? "";
    update((now) => ({ ...now, notice: printable(said) }));
    await load();
  };

  const perform = async (effect: Effect, width: number): Promise<void> => {
    if (effect.type === "quit") return leave({ state: stateNow() });
    if (effect.type === "load") return load();
    if (effect.type === "act" && effect.action === "edit")
      return leave({ state: stateNow(), edit: { resource: stateNow().resource.name, key: effect.item.key } });
    try {
      await (effect.type === "detail" ? openDetail(effect.item, width) : act(effect.item, effect.action));
    } catch (error) {
      update((now) => ({ ...now, notice: `! ${printable(messageOf(error))}` }));
    }
  };

  return perform;
}

function isSame(now: State, { resource, scope, search }: Pick<State, "resource" | "scope" | "search">): boolean {
  return now.resource === resource && now.scope === scope && now.search === search;
}
