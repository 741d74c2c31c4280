import { selfGet } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { call } from "../lib/http.ts";
import { queryKeys } from "../lib/query-keys.ts";
import { setUser, useUser } from "./session.ts";

/** Reads the current account from the server, and updates what the browser remembers of it. */
export function useSelf() {
  return useSelfQuery().data;
}

/** Works like `useSelf`, for pages that need the account. */
export function useSelfQuery() {
  const user = useUser();
  const query = useQuery({
    queryKey: queryKeys.self.user,
    queryFn: ({ signal }) => call(selfGet, { signal }),
    enabled: user !== undefined,
  });
  const { data } = query;
  useEffect(() => {
    if (!data || !user) return;
    const { id, username, display_name, role, status, group } = data;
    const fresh = { id, username, display_name, role, status, group };
    if (JSON.stringify(fresh) !== JSON.stringify(user)) setUser(fresh);
  }, [data, user]);
  return query;
}
