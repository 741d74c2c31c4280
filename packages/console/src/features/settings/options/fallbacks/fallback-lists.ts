import {
  findFallbacks,
  MAX_FALLBACKS,
  readFallbackList,
  readFallbackTable,
  type FallbackCause,
  type FallbackTable,
  type OptionKey,
  type OptionPrice,
} from "@fairway/wire";
import { isObject, parseJson } from "../../../../lib/text/json.ts";

const FALLBACK_OPTIONS = ["ModelFallbacks", "GroupModelFallbacks"] as const;
export type FallbackOption = (typeof FALLBACK_OPTIONS)[number];

export function isFallbackOption(key: OptionKey): key is FallbackOption {
  return (FALLBACK_OPTIONS as readonly string[]).includes(key);
}

/** A model of a list. */
export interface ListedModel {
  readonly model: string;
  readonly on: readonly FallbackCause[];
  /** What else its object says; it stays as it is. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** Returns the seconds for which a conversation stays with the model; 0 = for one call. */
export function readSticky({ rest }: ListedModel): number {
  const { sticky_seconds: seconds } = rest;
  return typeof seconds === "number" ? seconds : 0;
}

/** The list of one model or pattern; `group` is "" for the list of all groups. */
export interface EditedList {
  readonly group: string;
  readonly name: string;
  readonly models: readonly ListedModel[];
}

/** Returns the lists of an option in the order of its text; undefined if they can only be edited as JSON. */
export function parseLists(key: FallbackOption, text: string): readonly EditedList[] | undefined {
  const value = parseJson(text === "" ? "{}" : text);
  if (!isObject(value)) return undefined;
  const tables = key === "ModelFallbacks" ? [["", value] as const] : Object.entries(value);
  const lists: EditedList[] = [];
  for (const [group, table] of tables) {
    const read = readFallbackTable(table);
    if ("fault" in read || !isObject(table)) return undefined;
    for (const [name, entries] of Object.entries(read.value))
      lists.push({ group, name, models: withRest(entries, table[name]) });
  }
  return lists;
}

function withRest(entries: FallbackTable[string], raw: unknown): readonly ListedModel[] {
  const items: readonly unknown[] = Array.isArray(raw) ? raw : [];
  return entries.map(({ model, on }, at) => {
    const item = items[at];
    const { model: _model, on: _on, ...rest } = isObject(item) ? item : {};
    return { model, on, rest };
  });
}

/** Returns the text of an option; a model that is asked on errors alone is only its name. */
export function printLists(key: FallbackOption, lists: readonly EditedList[]): string {
  const groups = Map.groupBy(lists, ({ group }) => group);
  const tables = [...groups].map(
    ([group, own]) =>
      [group, Object.fromEntries(own.map(({ name, models }) => [name, models.map(printModel)]))] as const,
  );
  return JSON.stringify(key === "ModelFallbacks" ? (tables[0]?.[1] ?? {}) : Object.fromEntries(tables));
}

function printModel({ model, on, rest }: ListedModel): unknown {
  const isName = on.length === 1 && on[0] === "error" && Object.keys(rest).length === 0;
  return isName ? model : { model, on, ...rest };
}

/** Why a name cannot be added. */
export type NameFault = "missing" | "star" | "self" | "repeated" | "full" | "exists";

/** Returns why a list cannot have this name: its star is not at the end, or another list of the group has it. */
export function findListFault(lists: readonly EditedList[], group: string, name: string): NameFault | undefined {
  if (name === "") return "missing";
  if (name.slice(0, -1).includes("*")) return "star";
  return lists.some((list) => list.group === group && list.name === name) ? "exists" : undefined;
}

/** Returns why a list cannot take this model. */
export function findModelFault({ name, models }: EditedList, model: string): NameFault | undefined {
  if (model === "") return "missing";
  if (model === name) return "self";
  if (models.some((other) => other.model === model)) return "repeated";
  if (models.length >= MAX_FALLBACKS) return "full";
  return "fault" in readFallbackList([model]) ? "star" : undefined;
}

/** Returns the list with one model at another place; places beyond its ends are the ends. */
export function moveModel(list: EditedList, from: number, to: number): EditedList {
  const models = [...list.models];
  const [moved] = models.splice(from, 1);
  if (!moved) return list;
  models.splice(Math.max(0, Math.min(models.length, to)), 0, moved);
  return { ...list, models };
}

/** What is known about the models of this gateway. */
export type KnownModels = ReadonlyMap<string, Pick<OptionPrice, "price" | "is_served">>;

/** Why a model of a list would not be asked. */
export type Obstacle = "unserved" | "unpriced" | "asked" | "cause";

export function findObstacle(model: string, known: KnownModels | undefined): "unserved" | "unpriced" | undefined {
  if (!known) return undefined;
  const facts = known.get(model);
  if (!facts?.is_served) return "unserved";
  return facts.price ? undefined : "unpriced";
}

/** What a call of a model would do after a failure. */
export interface Course {
  /** The name of the list that counts; undefined if none fits. */
  readonly list: string | undefined;
  readonly steps: readonly { readonly model: string; readonly obstacle: Obstacle | undefined }[];
}

/** Follows a call of one group through the lists, as the gateway does. */
export function followCall(
  lists: readonly EditedList[],
  call: { readonly group: string; readonly model: string; readonly cause: FallbackCause },
  known: KnownModels | undefined,
): Course {
  const own = lists.filter(({ group }) => group === call.group);
  const table = Object.fromEntries(own.map(({ name, models }) => [name, models]));
  const models = findFallbacks(table, call.model);
  const found = models && own.find((list) => list.models === models);
  const steps = (models ?? []).map(({ model, on }) => ({
    model,
    obstacle:
      model === call.model
        ? ("asked" as const)
        : on.includes(call.cause)
          ? findObstacle(model, known)
          : ("cause" as const),
  }));
  return { list: found?.name, steps };
}
