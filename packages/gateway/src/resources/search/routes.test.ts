import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import type { SearchHits } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createSearchStore } from "./store.ts";

describe("over HTTP", () => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite") });
    members = await signInMembers(app);
    const { admin, user, root } = members;
    await setOptions(root, { UserUsableGroups: '{"default":"Default"}' });
    const models = Array.from({ length: 8 }, (_, index) => `boss-model-${index}`);
    await admin.data(
      admin.post("/api/channel/", {
        name: "Boss channel",
        key: "k",
        models: [...models, "the-boss"].join(","),
        group: "default",
      }),
    );
    await admin.data(admin.post("/api/channel/", { name: "hidden", key: "k", models: "boss-hidden", group: "vip" }));
    await user.data(user.post("/api/token/", { name: "boss bot" }));
    await admin.data(admin.post("/api/token/", { name: "Boss own" }));
  });
  afterAll(() => app.close());

  const find = (caller: Members["user"], text: string) =>
    caller.data<SearchHits>(caller.get(`/api/search?q=${encodeURIComponent(text)}`));

  test("administrators find channels, users and models; tokens are one's own", async () => {
    const hits = await find(members.admin, " BOSS ");
    expect(hits.channels).toMatchObject([{ name: "Boss channel", type: 1, status: 1 }]);
    expect(hits.users).toMatchObject([{ username: "boss" }]);
    expect(hits.tokens).toMatchObject([{ name: "Boss own" }]);
    expect(hits.models).toEqual(["boss-hidden", "boss-model-0", "boss-model-1", "boss-model-2", "boss-model-3"]);
  });

  test("users find their own and what their groups reach", async () => {
    const hits = await find(members.user, "boss");
    expect(hits).toMatchObject({ channels: [], users: [], tokens: [{ name: "boss bot" }] });
    expect(hits.models).not.toContain("boss-hidden");
    expect((await find(members.user, "the-b")).models).toEqual(["the-boss"]);
  });

  test("ids are found first, nothing finds nothing, wildcards are literal", async () => {
    const { id } = await app.database.db
      .selectFrom("channels")
      .select("id")
      .where("name", "=", "hidden")
      .executeTakeFirstOrThrow();
    expect((await find(members.admin, String(id))).channels[0]).toMatchObject({ id });
    const nothing = { channels: [], tokens: [], users: [], models: [] };
    expect(await find(members.admin, "")).toEqual(nothing);
    expect(await find(members.admin, "%")).toEqual(nothing);
    expect((await app.anonymous().get("/api/search?q=a")).status).toBe(401);
  });
});

eachDatabase("search store", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  test("asks each database in its own words", async () => {
    const store = createSearchStore(kit);
    expect(await store.channels("1")).toEqual([]);
    expect(await store.tokens(1, "x")).toEqual([]);
    expect(await store.users("é")).toEqual([]);
  });
});
