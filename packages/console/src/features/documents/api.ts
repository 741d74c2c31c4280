import {
  declarativeApply,
  declarativeManaged,
  declarativePlan,
  type DeclarativeChange,
  type Output,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";

export type Managed = Output<typeof declarativeManaged.data>[number];

/** What documents own, by kind and name. */
export const managedQuery = queryOptions({
  queryKey: queryKeys.documents.managed,
  queryFn: ({ signal }) => call(declarativeManaged, { signal }),
});

export interface Wanted {
  readonly manager: string;
  readonly documents: readonly unknown[];
  readonly prune: boolean;
  readonly force: boolean;
}

export function planDocuments({ documents, ...wanted }: Wanted): Promise<DeclarativeChange[]> {
  return call(declarativePlan, { body: { ...wanted, documents: [...documents] } });
}

/** Applying documents changes lists of all kinds. */
export async function applyDocuments({ documents, ...wanted }: Wanted): Promise<DeclarativeChange[]> {
  const changes = await call(declarativeApply, { body: { ...wanted, documents: [...documents] } });
  await queryClient.invalidateQueries();
  return changes;
}
