import { ACCOUNT_KIND, SEARCH_HITS, type SearchHits } from "@fairway/wire";
import type { Database } from "../../storage/database.ts";
import { containing, likeAnyCase } from "../../storage/like.ts";

export type SearchStore = ReturnType<typeof createSearchStore>;

/** Finds the few best hits per kind; rows whose id is the text come first. */
export function createSearchStore({ database: { db } }: { readonly database: Database }) {
  return {
    channels: (text: string): Promise<SearchHits["channels"]> =>
      db
        .selectFrom("channels")
        .select(["id", "name", "type", "status"])
        .where((eb) => eb.or([likeAnyCase("name", containing(text)), eb("id", "=", idIn(text))]))
        .orderBy((eb) => eb.case().when("id", "=", idIn(text)).then(0).else(1).end())
        .orderBy("id", "desc")
        .limit(SEARCH_HITS)
        .execute(),

    tokens: (userId: number, text: string): Promise<SearchHits["tokens"]> =>
      db
        .selectFrom("tokens")
        .select(["id", "name", "status"])
        .where("user_id", "=", userId)
        .where("deleted_at", "is", null)
        .where((eb) => eb.or([likeAnyCase("name", containing(text)), eb("id", "=", idIn(text))]))
        .orderBy("id", "desc")
        .limit(SEARCH_HITS)
        .execute(),

    users: (text: string): Promise<SearchHits["users"]> =>
      db
        .selectFrom("users")
        .select(["id", "username", "display_name", "status"])
        .where("kind", "=", ACCOUNT_KIND.person)
        .where("deleted_at", "is", null)
        .where((eb) =>
          eb.or([
            likeAnyCase("username", containing(text)),
            likeAnyCase("display_name", containing(text)),
            eb("id", "=", idIn(text)),
          ]),
        )
        .orderBy((eb) => eb.case().when("id", "=", idIn(text)).then(0).else(1).end())
        .orderBy("id", "desc")
        .limit(SEARCH_HITS)
        .execute(),
  };
}

function idIn(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
