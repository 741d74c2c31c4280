import { useEffect, useRef } from "react";
import { createStore, useStore } from "../../lib/store.ts";
import type { MenuEntry } from "./menu.ts";

const sources = createStore<ReadonlyMap<string, readonly MenuEntry[]>>(new Map());

/** Adds a page's actions to the command palette while the page is open. */
export function useActions(source: string, entries: readonly MenuEntry[]): void {
  const latest = useRef(entries);
  latest.current = entries;
  const shape = JSON.stringify(entries.map(({ id, label }) => [id, label]));
  useEffect(() => {
    const offered = latest.current.map((entry, index) => ({
      ...entry,
      id: `${source}-${entry.id}`,
      run: () => latest.current[index]?.run(),
    }));
    sources.write(new Map(sources.read()).set(source, offered));
    return () => {
      const rest = new Map(sources.read());
      rest.delete(source);
      sources.write(rest);
    };
  }, [source, shape]);
}

/** Returns all actions of the open pages. */
export function useOfferedActions(): readonly MenuEntry[] {
  return [...useStore(sources).values()].flat();
}
