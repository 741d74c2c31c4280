import { eachDatabase } from "@fairway/testkit/databases";
import { expect, test } from "vitest";
import { startManagementApp } from "../../../test/kit/management-app.ts";

const password = "a good password";

eachDatabase("an edit of a user", (open) => {
  test("changes the balance, the row, the sessions and the log together or not at all", async () => {
    const app = await startManagementApp({ url: await open() });
    const { db } = app.database;
    try {
      const root = await app.signIn("root");
      await root.data(root.post("/api/user/", { username: "ann", password }));
      const ann = await app.signIn("ann", password);
      const row = () => db.selectFrom("users").selectAll().where("username", "=", "ann").executeTakeFirstOrThrow();
      const before = await row();
      const edit = { id: before.id, quota: 700, password: "another password", group: "vip", display_name: "Ann" };

      await db.schema.alterTable("access_tokens").renameTo("tokens_away").execute();
      expect((await root.put("/api/user/", edit)).body).toMatchObject({ success: false, code: "G4" });
      await db.schema.alterTable("tokens_away").renameTo("access_tokens").execute();
      expect(await row()).toEqual(before);
      expect(await db.selectFrom("ledger").selectAll().where("user_id", "=", before.id).execute()).toEqual([]);

      await root.data(root.put("/api/user/", edit));
      expect(await row()).toMatchObject({ quota: 700, group: "vip", display_name: "Ann" });
      expect((await ann.get("/api/user/self")).status).toBe(401);
      const logs = await db
        .selectFrom("logs")
        .select("content")
        .where("user_id", "=", before.id)
        .orderBy("id")
        .execute();
      expect(logs.map(({ content }) => content)).toEqual([
        "Password changed by an administrator",
        "The administrator changed the user quota from $0.000000 to $0.001400",
      ]);
      await app.signIn("ann", "another password");
    } finally {
      await app.close();
    }
  });
});

eachDatabase("steps of a user's life that are asked for at once", (open) => {
  test("are applied and reported once", async () => {
    const app = await startManagementApp({ url: await open() });
    const { db } = app.database;
    try {
      const root = await app.signIn("root");
      await root.data(root.post("/api/user/", { username: "ann", password }));
      const { id } = await db.selectFrom("users").select("id").where("username", "=", "ann").executeTakeFirstOrThrow();
      const all = (action: string) =>
        Promise.all(
          Array.from({ length: 8 }, async () => (await root.post("/api/user/manage", { id, action })).body["code"]),
        );
      expect(new Set(await all("disable"))).toEqual(new Set([undefined]));
      expect((await all("promote")).filter((code) => code === "U9")).toHaveLength(7);
      expect((await all("delete")).filter((code) => code === "U13")).toHaveLength(7);
      const logs = await db.selectFrom("logs").select("content").where("user_id", "=", id).orderBy("id").execute();
      expect(logs.map(({ content }) => content)).toEqual([
        "Disabled by an administrator",
        "Promoted to administrator",
        "Deleted by an administrator",
      ]);
    } finally {
      await app.close();
    }
  });
});
