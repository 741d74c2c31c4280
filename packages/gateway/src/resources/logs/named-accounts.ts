import type { NamedAccounts } from "../../teams/wallet-names.ts";
import type { LogQuery } from "./filter.ts";

/** Returns whom the user filter of administrators means. */
export type FindNamed = (name: string) => Promise<NamedAccounts>;

/** Returns the filter with the account that its user name means; a name of a user means no team. */
export async function withAccounts<Q extends LogQuery>(findNamed: FindNamed, query: Q): Promise<Q & LogQuery> {
  if (query.username === "") return query;
  const found = await findNamed(query.username);
  if ("otherThan" in found) return { ...query, otherThan: found.otherThan };
  const isOther = query.user_id > 0 && query.user_id !== found.wallet;
  const isNothing = found.wallet === undefined || isOther;
  // A filter by the account alone is answered from sums, which know no names.
  return { ...query, username: "", user_id: found.wallet ?? 0, ...(isNothing && { isNothing }) };
}
