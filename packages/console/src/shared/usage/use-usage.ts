import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useUrlState } from "../../lib/url-state.ts";
import { usageOverTimeQuery, type UsageSubjectQuery } from "./api.ts";
import { parseUsageRange, type UsageRange } from "./period.ts";

/** Returns the figures of a page over the range in its address; `usual` is the range if the address has none. */
export function useUsage(asked: Omit<UsageSubjectQuery, "range">, usual: UsageRange) {
  const defaults = useMemo(() => ({ range: usual }), [usual]);
  const [state, change] = useUrlState<{ readonly range: string }>(defaults);
  const range = parseUsageRange(state.range);
  const { data, error, refetch } = useQuery(usageOverTimeQuery({ ...asked, range }));
  return { by: asked.by, range, choose: (next: UsageRange) => change({ range: next }), data, error, refetch };
}

export type Usage = ReturnType<typeof useUsage>;
