import { eachDatabase } from "@fairway/testkit/databases";
import { expect, test } from "vitest";
import { startManagementApp } from "../../../test/management-app.ts";

const password = "a good password";

eachDatabase("an edit of a user", (open) => {
  test("changes the balance, the row, the sessions and the log together or not at all", async () => {
    const app = await startManagementApp({ url: await open() });
    const { db } = app.database;
    try {
      const root = await app.signIn("root");
      await root.data(root.post("/api/user/", { username: "ann", password }));
      const ann = await app.signIn("ann", password);
      root.accessToken = await root.data<string>(root.get("/api/user/token"));
      root.cookie = "";
      const row = () => db.selectFrom("users").selectAll().where("username", "=", "ann").executeTakeFirstOrThrow();
      const before = await row();
      const edit = { id: before.id, quota: 700, password: "another password", group: "vip", display_name: "Ann" };

      await db.schema.alterTable("sessions").renameTo("sessions_away").execute();
      expect((await root.put("/api/user/", edit)).body).toMatchObject({ success: false, code: "G4" });
      await db.schema.alterTable("sessions_away").renameTo("sessions").execute();
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
