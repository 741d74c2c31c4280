import { selfGet } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { call } from "../../lib/http.ts";
import { setUser, useUser } from "./session.ts";

/** The account as the server has it now; what the browser remembers follows it. */
export function useSelf() {
  const user = useUser();
  const { data } = useQuery({
    queryKey: ["self"],
    queryFn: ({ signal }) => call(selfGet, { signal }),
    enabled: user !== undefined,
  });
  useEffect(() => {
    if (!data || !user) return;
    const { id, username, display_name, role, status, group } = data;
    const fresh = { id, username, display_name, role, status, group };
    if (JSON.stringify(fresh) !== JSON.stringify(user)) setUser(fresh);
  }, [data, user]);
  return data;
}
