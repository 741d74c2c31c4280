import type { Kysely } from "kysely";
import type { Schema } from "./tables/schema.ts";

/** Returns the highest id; 0 for an empty log. */
export async function newestLogId(db: Kysely<Schema>): Promise<number> {
  const newest = db.selectFrom("logs").select((eb) => eb.fn.max("id").as("id"));
  return Number((await newest.executeTakeFirstOrThrow()).id ?? 0);
}

/** Returns the time of the row with the highest id, in epoch seconds; 0 for an empty log. */
export async function newestTime({ db }: { readonly db: Kysely<Schema> }): Promise<number> {
  const newest = db
    .selectFrom("logs")
    .select("created_at")
    .where("id", "=", await newestLogId(db));
  return (await newest.executeTakeFirst())?.created_at ?? 0;
}
