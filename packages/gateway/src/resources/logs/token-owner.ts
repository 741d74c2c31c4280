import type { Kysely } from "kysely";
import type { Schema } from "../../storage/tables/schema.ts";
import type { LogQuery } from "./filter.ts";

/**
 * Adds the owner to the filter of a token, because an index has the owner's rows. There is no index on ids of tokens,
 * because every row of the log would pay for it. The rows of deleted tokens stay, so their calls are found too.
 */
export async function withOwner(db: Kysely<Schema>, query: LogQuery): Promise<LogQuery> {
  if (query.token_id <= 0 || query.ownerId !== undefined || query.user_id > 0) return query;
  const token = db.selectFrom("tokens").select("user_id").where("id", "=", query.token_id);
  const owner = await token.executeTakeFirst();
  return owner ? { ...query, user_id: owner.user_id } : query;
}
