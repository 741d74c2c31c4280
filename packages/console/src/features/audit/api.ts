import { auditList, type AuditRow } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { nowSeconds } from "../../lib/now.ts";
import { resolveBounds, rangeName } from "../../lib/range.ts";
import { readRows, type Rows } from "../../lib/rows.ts";
import { queryKeys } from "../../lib/query-keys.ts";

/** Names must match completely: the server compares them as they are. */
export interface AuditFilter {
  readonly user: string;
  readonly action: string;
  readonly target: string;
  readonly range: string;
  readonly from: string;
  readonly to: string;
}

/** The range if the address names none. */
export const USUAL_RANGE = "30d";

export function auditQuery(filter: AuditFilter, page: { readonly page: number; readonly size: number }) {
  const { user, action, target, range } = filter;
  return queryOptions({
    queryKey: queryKeys.audit.list(filter, page),
    queryFn: ({ signal }): Promise<Rows<AuditRow>> => {
      const { from, to } = resolveBounds(rangeName(range, USUAL_RANGE), nowSeconds(), filter);
      const names = { username: user, action, target };
      const bounds = { start_timestamp: from, end_timestamp: to };
      return readRows(auditList, {
        query: { p: page.page - 1, page_size: page.size, ...names, ...bounds },
        signal,
      });
    },
    placeholderData: keepPreviousData,
  });
}
