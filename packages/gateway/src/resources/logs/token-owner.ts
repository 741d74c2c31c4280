import type { Kysely } from "kysely";
import type { Schema } from "../../storage/tables/schema.ts";
import type { LogQuery } from "./filter.ts";

/**
 * The filter of one token with its owner, whose rows an index has; ids of tokens have none, because every row of the log
 * would pay for it. The rows of deleted tokens stay, so that their calls are found as well.
 */
export async function withOwner(db: Kysely<Schema>, query: LogQuery): Promise<LogQuery> {
  if (query.token_id <= 0 || query.ownerId !== undefined || query.user_id > 0) return query;
  const token = db.selectFrom("tokens").select("user_id").where("id", "=", query.token_id);
  const owner = await token.executeTakeFirst();
  return owner ? { ...query, user_id: owner.user_id } : query;
}
