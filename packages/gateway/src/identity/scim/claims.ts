import type { Kysely } from "kysely";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Claims } from "../providers/mapping.ts";
import { findUser, listGroupsWithMember } from "./store.ts";

/** Returns what the directory says of a person, in the form of claims; undefined if it does not know the person. */
export async function readDirectoryClaims(
  db: Kysely<Schema>,
  providerId: number,
  userId: number,
): Promise<Claims | undefined> {
  const row = await db
    .selectFrom("scim_users")
    .select("id")
    .where("provider_id", "=", providerId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  const user = row && (await findUser(db, providerId, row.id));
  if (!user) return undefined;
  const groups = (await listGroupsWithMember(db, user.id)).map(({ displayName }) => displayName);
  const { department, costCenter } = user;
  return {
    scim_groups: groups,
    ...(department !== "" && { department }),
    ...(costCenter !== "" && { costCenter }),
  };
}
