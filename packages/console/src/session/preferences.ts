import { selfPreferences, selfPreferencesUpdate, type Preferences } from "@fairway/wire";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "../lib/http.ts";
import { queryKeys } from "../lib/query-keys.ts";
import { queryClient } from "../lib/query.ts";
import { createStore, useStore } from "../lib/store.ts";
import { useUser } from "./session.ts";

/** The user's preferences for the console, stored on the server. */
const preferencesQuery = queryOptions({
  queryKey: queryKeys.self.preferences,
  queryFn: ({ signal }) => call(selfPreferences, { signal }),
  staleTime: Infinity,
});

/** Changes that the server does not have yet, shown at once. */
const draft = createStore<Preferences | undefined>(undefined);

export function usePreferences() {
  const isOn = useUser() !== undefined;
  const { data, isLoading } = useQuery({ ...preferencesQuery, enabled: isOn });
  const unsaved = useStore(draft);
  return { preferences: unsaved ?? data, isLoading };
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Changes the preferences. The change is applied to the server's latest version, so that a change from another tab is
 * not lost.
 */
export function changePreferences(change: (current: Preferences) => Preferences): Promise<void> {
  const { queryKey } = preferencesQuery;
  const own = change(draft.read() ?? queryClient.getQueryData(queryKey) ?? {});
  draft.write(own);
  const save = async () => {
    try {
      const body = change(await call(selfPreferences, {}));
      queryClient.setQueryData(queryKey, await call(selfPreferencesUpdate, { body }));
    } finally {
      // Another change may be waiting behind this one.
      if (draft.read() === own) draft.write(undefined);
    }
  };
  const saved = last.then(save);
  last = saved.catch(() => undefined);
  return saved;
}
