import { printable } from "../../print/printable.ts";
import { MistakenDocuments } from "../documents/plan.ts";
import type { Form } from "./form.ts";
import type { PlanFiles } from "./lists/plan.ts";
import type { Resource } from "./lists/resource.ts";
import { createSender, type Calls } from "./sender.ts";
import {
  findResource,
  loaded,
  openFrom,
  describeError,
  createInitialState,
  wantedBy,
  type Effect,
  type Item,
  type Lasting,
  type State,
  type Wanted,
} from "./state.ts";

/** How a screen was left: for good, or to edit something. */
export interface Left {
  readonly state: State;
  readonly edit?: { readonly resource: string; readonly key: string };
  /** A form whose fields the user edits as text. */
  readonly draft?: Form;
  /** The shell gets the terminal until it continues this program. */
  readonly isSuspended?: boolean;
}

/** What a screen does outside itself; each call returns a notice. */
export interface Outside {
  copy(text: string): string;
  browse(page: string): string;
  /** Stores chosen columns for the next screen; returns a notice if that fails. */
  keep(columns: Lasting["columns"]): string;
  /** Reads documents and compares them. */
  plan(files: PlanFiles): Promise<Resource>;
}

interface PerformerSettings {
  readonly resources: readonly Resource[];
  readonly outside: Outside;
  leave(how: Left): void;
  update(change: (now: State) => State): void;
  /** Adds a list and replaces an earlier one of that name. */
  open(resource: Resource): void;
  now(): State;
}

type Perform = (effect: Effect, width: number) => Promise<void>;
type Act = Extract<Effect, { readonly type: "act" }>;
type Runs = {
  readonly [Type in Effect["type"]]: (effect: Extract<Effect, { readonly type: Type }>, width: number) => unknown;
};

/** Makes the calls that keys request and puts their answers into the state. */
export function createPerformer({
  resources,
  outside,
  leave,
  update,
  open,
  now: stateNow,
}: PerformerSettings): Perform {
  const current = () => findResource(resources, stateNow().resource.name);
  const notify = (notice: string) => update((now) => ({ ...now, notice }));

  const { load, readDetail } = createReader({ current, update, now: stateNow });

  const act = async ({ items, action, given }: Act, width: number): Promise<void> => {
    const said = (await current()?.act(items, action, given)) ?? "";
    await load();
    const [item] = items;
    if (item && stateNow().mode === "detail") await readDetail(item, width, "detail");
    notify(printable(said));
  };

  const openPlan = async (words: readonly string[]): Promise<void> => {
    const file = words.filter((word) => word !== "--prune");
    try {
      const plan = await outside.plan({ file, prune: file.length < words.length });
      open(plan);
      update((now) => openFrom(now, createInitialState(plan, now)));
      await load();
    } catch (error) {
      if (!(error instanceof MistakenDocuments)) throw error;
      update((now) => ({ ...withDetail(now, error.lines), notice: `! ${printable(error.message)}` }));
    }
  };

  const sender = createSender({ current, update, load, now: stateNow });
  const run: Runs = {
    load: () => load(),
    detail: ({ item }, width) => readDetail(item, width, "list"),
    plan: ({ words }) => openPlan(words),
    act,
    send: ({ form }) => sender.send(form),
    stop: () => sender.stop(),
    copy: ({ text }) => notify(outside.copy(text)),
    browse: ({ page }) => notify(outside.browse(page)),
    keep: () => notify(outside.keep(stateNow().columns)),
    draft: ({ form }) => leave({ state: stateNow(), draft: form }),
    quit: () => leave({ state: stateNow() }),
  };

  return async (effect, width) => {
    const [edited] = effect.type === "act" && effect.action === "edit" ? effect.items : [];
    if (edited) return leave({ state: stateNow(), edit: { resource: stateNow().resource.name, key: edited.key } });
    try {
      await (run[effect.type] as (one: Effect, width: number) => unknown)(effect, width);
    } catch (error) {
      notify(`! ${describeError(error)}`);
    }
  };
}

/** Reads lists and details; an answer that arrives after the screen has moved on is dropped. */
function createReader({ current, update, now: stateNow }: Omit<Calls, "load">) {
  const load = async () => {
    const wanted = wantedBy(stateNow());
    const { resource } = stateNow();
    const isStill = () => stateNow().resource === resource && isSame(stateNow(), wanted);
    try {
      const read = await current()?.load(wanted);
      if (read && isStill()) update((now) => loaded(now, read.items, read));
    } catch (error) {
      if (isStill()) update((now) => ({ ...now, isLoading: false, problem: describeError(error) }));
    }
  };

  /** Opens the detail from the list, or reloads it after an action. */
  const readDetail = async (item: Item, width: number, from: "list" | "detail"): Promise<void> => {
    const read = (await current()?.detail(item, width)) ?? [];
    const isStill = stateNow().mode === from && stateNow().chosenKey === item.key;
    if (isStill) update((now) => withDetail(now, read));
  };
  return { load, readDetail };
}

/** If there are no lines, for example after the row was deleted, the list is shown again. */
function withDetail(now: State, lines: readonly string[]): State {
  const detail = lines.map((line) => printable(line));
  return { ...now, mode: detail.length === 0 ? "list" : "detail", detail, offset: 0, notice: "" };
}

function isSame(now: State, { scope, search, query }: Wanted): boolean {
  return now.scope === scope && now.search === search && now.query === query;
}
