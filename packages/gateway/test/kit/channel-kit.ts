import { createDatabase } from "@fairway/testkit/databases";
import { startUpstream } from "@fairway/testkit/upstream/index";
import { startManagementApp } from "./management-app.ts";
import { signInMembers } from "./members.ts";

/** The key of the channels that `create` makes. */
export const CHANNEL_KEY = "sk-operator-key-0123456789";

export type ChannelKit = Awaited<ReturnType<typeof openChannelKit>>;

/** The management API with an upstream that its channels call. */
export async function openChannelKit() {
  const upstream = await startUpstream();
  const app = await startManagementApp({ url: await createDatabase("sqlite") });
  const members = await signInMembers(app);
  const { admin } = members;
  const { db } = app.database;
  return {
    app,
    upstream,
    members,
    admin,

    async create(more: Record<string, unknown> = {}): Promise<number> {
      const form = { name: "one", key: CHANNEL_KEY, models: "gpt-4o", base_url: upstream.url, ...more };
      await admin.data(admin.post("/api/channel/", form));
      return (await db.selectFrom("channels").select("id").orderBy("id", "desc").executeTakeFirstOrThrow()).id;
    },

    row: (id: number) => db.selectFrom("channels").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),

    async reset(): Promise<void> {
      upstream.reset();
      for (const table of ["channels", "abilities", "logs", "jobs"] as const) await db.deleteFrom(table).execute();
    },

    async close(): Promise<void> {
      await app.close();
      await upstream.stop();
    },
  };
}
