import { userGet, type Client } from "@fairway/wire";

/** Beyond this many, users are shown by id. */
const MOST = 50;

/** Returns names of users for a table; users that no longer exist are left out. */
export async function usernames(client: Client, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const distinct = [...new Set(ids)].filter((id) => id > 0);
  if (distinct.length > MOST) return new Map();
  const found = await Promise.allSettled(distinct.map((id) => client.call(userGet, { params: { id } })));
  const users = found.flatMap((one) => (one.status === "fulfilled" ? [one.value.data] : []));
  return new Map(users.map(({ id, username }) => [id, username]));
}
