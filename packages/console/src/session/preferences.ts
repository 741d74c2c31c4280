import { selfPreferences, selfPreferencesUpdate, type Preferences } from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../lib/http.ts";
import { queryClient } from "../lib/query.ts";

/** What the user chose about the console, stored at the server. */
export const preferencesQuery = queryOptions({
  queryKey: ["self", "preferences"],
  queryFn: ({ signal }) => call(selfPreferences, { signal }),
  staleTime: Infinity,
});

let last: Promise<unknown> = Promise.resolve();

/**
 * Changes the preferences, shown at once. The change is applied to what the server has by then, so that one of another
 * tab is not lost.
 */
export function changePreferences(change: (current: Preferences) => Preferences): Promise<void> {
  const { queryKey } = preferencesQuery;
  void queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, (current: Preferences | undefined) => change(current ?? {}));
  const save = async () => {
    try {
      const stored = await call(selfPreferences, {});
      await call(selfPreferencesUpdate, { body: change(stored) });
    } catch (problem) {
      await queryClient.invalidateQueries({ queryKey });
      throw problem;
    }
  };
  const saved = last.then(save, save);
  last = saved.catch(() => undefined);
  return saved;
}
