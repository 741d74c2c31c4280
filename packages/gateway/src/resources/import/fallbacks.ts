import { MAX_FALLBACKS, type FallbackCause } from "@fairway/wire";
import { isObject } from "../../lib/text/json.ts";

/** Lists of further models, as the option ModelFallbacks has them. */
export type ImportedFallbacks = Readonly<Record<string, readonly (string | FallbackItem)[]>>;

interface FallbackItem {
  readonly model: string;
  readonly on: readonly FallbackCause[];
}

/** Settings with lists of models, and the failures that lead to their models. */
const CAUSES: Readonly<Record<string, FallbackCause>> = {
  fallbacks: "error",
  context_window_fallbacks: "context",
  content_policy_fallbacks: "content",
};
const FOR_ALL = "default_fallbacks";

/** Members of a configuration that hold fallbacks. */
export const FALLBACK_SETTINGS: readonly string[] = [...Object.keys(CAUSES), FOR_ALL];

/** One list of a setting: the model whose list it is, the cause, and the names in order. */
interface FoundList {
  readonly owner: string;
  readonly cause: FallbackCause;
  readonly names: readonly string[];
}

/** Collects the fallbacks of a LiteLLM configuration; `notes` gets what cannot be taken over. */
export class FallbackReader {
  readonly #lists: FoundList[] = [];
  readonly #defaults: FoundList[] = [];
  readonly #notes: string[];

  constructor(notes: string[]) {
    this.#notes = notes;
  }

  /** Reads one setting; `path` is its name with the section. */
  read(name: string, value: unknown, path: string): void {
    if (value === undefined || value === null) return;
    if (name === FOR_ALL) {
      const names = this.#readNames(value, path);
      if (names.length > 0) this.#defaults.push({ owner: "*", cause: "error", names });
      return;
    }
    const cause = CAUSES[name];
    if (cause === undefined) return;
    if (!Array.isArray(value)) return void this.#notes.push(`${path} is not imported: it is no list`);
    for (const entry of value as readonly unknown[]) {
      if (!isObject(entry))
        this.#notes.push(`an entry of ${path} is not imported: it names no model and its fallbacks`);
      else
        for (const [owner, target] of Object.entries(entry)) {
          const names = this.#readNames(target, `${path} of ${owner}`);
          if (names.length > 0) this.#lists.push({ owner, cause, names });
        }
    }
  }

  #readNames(value: unknown, path: string): string[] {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return items.flatMap((item) => {
      const name = isObject(item) ? item["model"] : item;
      if (typeof name !== "string" || name === "") {
        this.#notes.push(`an entry of ${path} is not imported: it names no model`);
        return [];
      }
      const further = isObject(item) ? Object.keys(item).filter((member) => member !== "model") : [];
      if (further.length > 0)
        this.#notes.push(`${further.join(", ")} of ${name} in ${path}: a fallback gets the request as it is`);
      return [name];
    });
  }

  /** Returns one list for each model, in which each name has the causes of all its lists; undefined if there are none. */
  finish(): ImportedFallbacks | undefined {
    const table: Record<string, readonly (string | FallbackItem)[]> = {};
    for (const [owner, lists] of Map.groupBy([...this.#lists, ...this.#defaults], (list) => list.owner)) {
      if (owner.slice(0, -1).includes("*") || owner.trim() === "")
        this.#notes.push(`the fallbacks of ${owner} are not imported: * may stand only at the end of a name`);
      else table[owner] = this.#merge(owner, lists);
    }
    const filled = Object.entries(table).filter(([, list]) => list.length > 0);
    return filled.length === 0 ? undefined : Object.fromEntries(filled);
  }

  #merge(owner: string, lists: readonly FoundList[]): readonly (string | FallbackItem)[] {
    const causes = new Map<string, Set<FallbackCause>>();
    for (const { names, cause } of lists)
      for (const name of names) causes.set(name, (causes.get(name) ?? new Set()).add(cause));
    causes.delete(owner);
    const left = [...causes.keys()].slice(MAX_FALLBACKS);
    if (left.length > 0)
      this.#notes.push(
        `the fallbacks of ${owner} end after ${MAX_FALLBACKS} models: ${left.join(", ")} are not imported`,
      );
    const items = [...causes].slice(0, MAX_FALLBACKS).map(([model, on]): FallbackItem => ({ model, on: [...on] }));
    for (const { cause, names } of lists)
      if (!isInOrder(items, { cause, names }))
        this.#notes.push(`the fallbacks of ${owner} have one order for all causes: that of ${cause} is another one`);
    return items.map((item) => (item.on.join() === "error" ? item.model : item));
  }
}

/** True if the models of one cause come in the order of its list. */
function isInOrder(items: readonly FallbackItem[], { cause, names }: Pick<FoundList, "cause" | "names">): boolean {
  const places = names.map((name) => items.findIndex(({ model, on }) => model === name && on.includes(cause)));
  const found = places.filter((place) => place >= 0);
  return found.every((place, at) => at === 0 || (found[at - 1] ?? 0) <= place);
}

/** Returns the models of lists that nothing of the configuration serves, sorted by name. */
export function listUnserved(table: ImportedFallbacks, served: ReadonlySet<string>): string[] {
  const names = Object.values(table).flatMap((list) =>
    list.map((item) => (typeof item === "string" ? item : item.model)),
  );
  return [...new Set(names)].filter((name) => !served.has(name)).sort();
}
