import { messageOf } from "../../core/problem.ts";
import { printable } from "../../print/printable.ts";
import { MistakenDocuments } from "../documents/plan.ts";
import type { Resource } from "./resource.ts";
import {
  findResource,
  loaded,
  openCalls,
  press,
  startOf,
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
  readonly outside: Outside;
  leave(how: Left): void;
}

/** What a screen does outside of itself; each answers the notice. */
export interface Outside {
  copy(text: string): string;
  browse(page: string): string;
  /** Reads documents and compares them. */
  plan(files: readonly string[]): Promise<Resource>;
}

type Update = (change: (now: State) => State) => void;

export function createMachine({ resources, start, outside, leave }: MachineSettings): Machine {
  let state = start;
  const watchers = new Set<() => void>();
  const running = new Set<Promise<void>>();
  const update: Update = (change) => {
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
      const step: Step = openCalls(state, key, all) ?? press(state, key, all, rows);
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
  /** Adds a list, in the place of an earlier one of its name. */
  open(resource: Resource): void;
  now(): State;
}

/** Makes the calls of keys and puts their answers into the state. */
function createPerformer({ resources, outside, leave, update, open, now: stateNow }: PerformerSettings) {
  const current = () => findResource(resources, stateNow().resource.name);

  const load = async () => {
    const { resource, scope, search, pages } = stateNow();
    const isStill = () => isSame(stateNow(), { resource, scope, search });
    try {
      const read = await current()?.load({ scope, search, pages });
      if (read && isStill()) update((now) => loaded(now, read.items, read));
    } catch (error) {
      if (isStill()) update((now) => ({ ...now, isLoading: false, problem: printable(messageOf(error)) }));
    }
  };

  /** Opens the detail from the list, or reads it again after an action. */
  const readDetail = async (item: Item, width: number, from: "list" | "detail"): Promise<void> => {
    const read = (await current()?.detail(item, width)) ?? [];
    const isStill = stateNow().mode === from && stateNow().chosenKey === item.key;
    if (isStill) update((now) => withDetail(now, read));
  };

  const act = async (items: readonly Item[], action: Action, width: number): Promise<void> => {
    const said = (await current()?.act(items, action)) ?? "";
    await load();
    const [item] = items;
    if (item && stateNow().mode === "detail") await readDetail(item, width, "detail");
    update((now) => ({ ...now, notice: printable(said) }));
  };

  const openPlan = async (files: readonly string[]): Promise<void> => {
    try {
      const plan = await outside.plan(files);
      open(plan);
      update((now) => startOf(plan, now.isReadOnly));
      await load();
    } catch (error) {
      if (!(error instanceof MistakenDocuments)) throw error;
      update((now) => ({ ...withDetail(now, error.lines), notice: `! ${printable(error.message)}` }));
    }
  };

  const run = async (effect: Effect, width: number): Promise<void> => {
    if (effect.type === "detail") return readDetail(effect.item, width, "list");
    if (effect.type === "plan") return openPlan(effect.words);
    if (effect.type === "act") return act(effect.items, effect.action, width);
    if (effect.type !== "copy" && effect.type !== "browse") return;
    const notice = effect.type === "copy" ? outside.copy(effect.text) : outside.browse(effect.page);
    update((now) => ({ ...now, notice }));
  };

  return async (effect: Effect, width: number): Promise<void> => {
    if (effect.type === "quit") return leave({ state: stateNow() });
    if (effect.type === "load") return load();
    const [edited] = effect.type === "act" && effect.action === "edit" ? effect.items : [];
    if (edited) return leave({ state: stateNow(), edit: { resource: stateNow().resource.name, key: edited.key } });
    try {
      await run(effect, width);
    } catch (error) {
      update((now) => ({ ...now, notice: `! ${printable(messageOf(error))}` }));
    }
  };
}

/** Without lines, such as after the row was deleted, it is the list again. */
function withDetail(now: State, lines: readonly string[]): State {
  const detail = lines.map((line) => printable(line));
  return { ...now, mode: detail.length === 0 ? "list" : "detail", detail, offset: 0, notice: "" };
}

function isSame(now: State, { resource, scope, search }: Pick<State, "resource" | "scope" | "search">): boolean {
  return now.resource === resource && now.scope === scope && now.search === search;
}
