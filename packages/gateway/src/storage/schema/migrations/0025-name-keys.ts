import { nameKey } from "../../../lib/text/name-key.ts";
import type { Migration } from "../migration.ts";

const BATCH = 1_000;

/**
 * Names that look alike count as one name. If two accounts now share a name, the later one retains its previous key.
 */
export const nameKeys: Migration = {
  version: 25,
  name: "keys of user names",
  steps: [
    async (on) => {
      for (let last = 0; ;) {
        const rows = await on.rows<{ id: number; username: string; username_key: string }>(
          `select id, username, username_key from users where id > ${last} order by id limit ${BATCH}`,
        );
        for (const { id, username, username_key } of rows) {
          const key = nameKey(username);
          if (key === username_key || (await on.hasText("users", "username_key", key))) continue;
          await on.setText("users", Number(id), "username_key", key);
        }
        const end = rows.at(-1);
        if (!end) return;
        last = Number(end.id);
      }
    },
  ],
};
