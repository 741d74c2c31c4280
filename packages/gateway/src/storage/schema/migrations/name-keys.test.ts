import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../../test/kit/store-kit.ts";
import { createLog } from "../../../observability/log.ts";
import { migrate } from "../migrate.ts";

eachDatabase("keys of the names of an older installation", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  const user = (id: number, username: string) =>
    kit.database.raw.run(
      `insert into users (id, username, username_key, password, display_name, role, status, quota, request_count,
        "group", aff_code, created_at) values (${id}, ?, ?, '', '', 1, 1, 0, 0, 'default', 'a${id}', 5)`,
      [username, username.normalize("NFC").toLowerCase()],
    );

  test("are made again, and an account that would take the name of an earlier one keeps its own", async () => {
    await user(1, "Root");
    await user(2, "ｒｏｏｔ");
    await user(3, "ﬁona's \\");
    await kit.database.raw.run("delete from schema_versions where version >= 25", []);
    const log = createLog({ level: "off", format: "text", out: process.stderr });
    await migrate(kit.database, { log, mode: "auto" });
    const rows = await kit.database.raw.rows<{ username_key: string }>(
      "select username_key from users order by id",
      [],
    );
    expect(rows.map(({ username_key }) => username_key)).toEqual(["root", "ｒｏｏｔ", "fiona's \\"]);
  });
});
