import { channelGet, userGet, type Budget } from "@fairway/wire";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../../lib/query.ts";

/** The name behind the id of a user or channel; of everything else the subject itself is the name. */
function subjectQuery({ scope, subject }: Pick<Budget, "scope" | "subject">) {
  const params = { id: Number(subject) };
  return queryOptions({
    queryKey: queryKeys.budgets.subject(scope, subject),
    queryFn: async ({ signal }) =>
      scope === "user"
        ? (await call(userGet, { params, signal })).username
        : (await call(channelGet, { params, signal })).name,
    enabled: scope === "user" || scope === "channel",
    staleTime: FRESH_STATIC_MS,
    // A deleted row keeps its number.
    retry: false,
  });
}

/** Name and number of the subject, such as `ada #17`. */
export function useSubjectName(budget: Pick<Budget, "scope" | "subject">): string {
  const { data } = useQuery(subjectQuery(budget));
  if (budget.scope === "group" || budget.scope === "model") return budget.subject;
  return data ? `${data} #${budget.subject}` : `#${budget.subject}`;
}
