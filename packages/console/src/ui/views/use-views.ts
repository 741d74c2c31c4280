import { ListPreferences, MAX_LIST_VIEWS, type ListView, type Preferences } from "@fairway/wire";
import { useMemo } from "react";
import { useLocation, useNavigate } from "react-router";
import { changePreferences, usePreferences } from "../../session/preferences.ts";
import { toastProblem } from "../feedback/toaster.ts";
import type { GridLayout } from "../grid/grid-props.ts";
import { viewQuery } from "./view-query.ts";

const NOTHING: ListPreferences = {};

function readListPreferences(preferences: Preferences | undefined, list: string): ListPreferences {
  const parsed = ListPreferences.safeParse(preferences?.lists?.[list]);
  return parsed.success ? parsed.data : NOTHING;
}

/** Returns the user's columns and saved views of the list at this address. */
export function useViews() {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const list = pathname.split("/")[1] ?? "";
  const { preferences, isLoading } = usePreferences();
  const own = useMemo(() => readListPreferences(preferences, list), [preferences, list]);
  const views = own.views ?? [];
  const query = viewQuery(search);
  const active = views.find((view) => view.query === query);

  const change = (next: (current: ListPreferences) => ListPreferences) => {
    const update = (current: Preferences): Preferences => ({
      ...current,
      lists: { ...current.lists, [list]: next(readListPreferences(current, list)) },
    });
    changePreferences(update).catch(toastProblem);
  };
  const setViews = (next: (current: readonly ListView[]) => ListView[]) =>
    change((current) => ({ ...current, views: next(current.views ?? []) }));

  const layout: GridLayout = active?.layout ?? own.layout ?? {};
  return {
    isLoading,
    views,
    active,
    /** True for the list without any filter or order. */
    isPlain: query === "",
    layout,
    /** Stored in the open view, otherwise in the list. */
    setLayout: (wanted: GridLayout) => {
      const next = copyLayout(wanted);
      if (active) setViews((all) => all.map((view) => (view.name === active.name ? { ...view, layout: next } : view)));
      else change((current) => ({ ...current, layout: next }));
    },
    /** Replaces a view of the same name. */
    save: (name: string) =>
      setViews((all) => [
        ...all.filter((view) => view.name !== name).slice(0, MAX_LIST_VIEWS - 1),
        { name, query, layout: copyLayout(layout) },
      ]),
    remove: (name: string) => setViews((all) => all.filter((view) => view.name !== name)),
    open: (view: ListView | undefined) => void navigate({ pathname, search: view?.query ?? "" }),
  };
}

export type Views = ReturnType<typeof useViews>;

function copyLayout({ hidden, shown, order, density }: GridLayout): NonNullable<ListView["layout"]> {
  return {
    ...(hidden && { hidden: [...hidden] }),
    ...(shown && { shown: [...shown] }),
    ...(order && { order: [...order] }),
    ...(density && { density }),
  };
}
