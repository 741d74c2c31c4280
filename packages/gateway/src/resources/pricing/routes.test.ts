import { createDatabase } from "@fairway/testkit/databases";
import type { PricingExplanation, PricingRow } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
  const { root, admin } = members;
  await setOptions(root, {
    GroupRatio: '{"default":1,"vip":0.8,"svip":0.5}',
    ModelRatio: '{"ours":1.25}',
    CompletionRatio: '{"ours":4}',
    ModelPrice: '{"drawn":0.04}',
  });
  const channel = (name: string, models: string, group: string, status = 1) =>
    admin.data(admin.post("/api/channel/", { name, key: "k", models, group, status }));
  await channel("one", "ours,drawn,no-price", "default,vip");
  await channel("two", "secret", "svip");
  await channel("off", "disabled", "default", 2);
});
afterAll(() => app.close());

const rows = (body: unknown) => (body as { data: PricingRow[] }).data;

// @weakness Leaks: Strangers see all groups and their ratios
test("anonymous callers see the offered groups", async () => {
  const { body } = await app.anonymous().get("/api/pricing");
  expect(rows(body)).toEqual([
    {
      model_name: "drawn",
      quota_type: 1,
      model_ratio: 0,
      model_price: 0.04,
      owner_by: "",
      completion_ratio: 0,
      enable_groups: ["default", "vip"],
    },
    {
      model_name: "no-price",
      quota_type: 0,
      model_ratio: 37.5,
      model_price: 0,
      owner_by: "",
      completion_ratio: 1,
      enable_groups: ["default", "vip"],
    },
    {
      model_name: "ours",
      quota_type: 0,
      model_ratio: 1.25,
      model_price: 0,
      owner_by: "",
      completion_ratio: 4,
      enable_groups: ["default", "vip"],
    },
  ]);
  expect(body).toMatchObject({
    success: true,
    group_ratio: { default: 1, vip: 0.8 },
    usable_group: { default: "Default group", vip: "vip group" },
  });
  expect(Object.keys(body["group_ratio"] as object)).toEqual(["default", "vip"]);
});

test("a user of another group sees it as well; a bad credential counts as none", async () => {
  await app.database.db.updateTable("users").set({ group: "svip" }).where("username", "=", "ann").execute();
  const { body } = await members.user.get("/api/pricing/");
  expect(rows(body).map((row) => row.model_name)).toEqual(["drawn", "no-price", "ours", "secret"]);
  expect(body["group_ratio"]).toEqual({ default: 1, vip: 0.8, svip: 0.5 });
  const bad = await app.anonymous().get("/api/pricing", { authorization: "nonsense" });
  expect([bad.status, rows(bad.body).length]).toEqual([200, 3]);
});

test("a change of channels and prices shows at once", async () => {
  await setOptions(members.root, { ModelRatio: '{"ours":2}' });
  await members.admin.data(members.admin.post("/api/channel/", { name: "new", key: "k", models: "added" }));
  const models = rows((await app.anonymous().get("/api/pricing")).body);
  expect(models.find((row) => row.model_name === "ours")?.model_ratio).toBe(2);
  expect(models.map((row) => row.model_name)).toContain("added");
});

test("a charge is explained by the arithmetic of charges, to those who may see the price", async () => {
  await setOptions(members.root, {
    ModelRatio: '{"ours":1.25,"listed":0.075}',
    CompletionRatio: '{"ours":4}',
    CacheRatio: '{"ours":0.5}',
  });
  const explained = (caller: typeof members.root, query: string) =>
    caller.data<PricingExplanation | null>(caller.get(`/api/pricing/explain?${query}`));
  const ours = "model=ours&prompt=1000&completion=333&cached=200";
  expect(await explained(members.admin, `${ours}&group=vip`)).toEqual({
    model: "ours",
    group: "vip",
    source: "operator",
    date: "",
    quota_type: 0,
    ratios: { model: 1.25, completion: 4, cache: 0.5 },
    parts: [
      { name: "input", count: 800, rate: "1.25", quota: "1000" },
      { name: "output", count: 333, rate: "5", quota: "1665" },
      { name: "cached", count: 200, rate: "0.625", quota: "125" },
    ],
    group_ratio: "0.8",
    exact: "2232",
    quota: 2232,
    quota_per_unit: 500_000,
  });
  // Half a unit is rounded up, and anything less than that still costs one.
  expect(await explained(members.admin, "model=ours&prompt=2")).toMatchObject({ exact: "2.5", quota: 3 });
  expect(await explained(members.admin, "model=listed&prompt=1")).toMatchObject({ exact: "0.075", quota: 1 });
  expect(await explained(members.admin, "model=drawn&prompt=9")).toMatchObject({
    quota_type: 1,
    parts: [{ name: "call", count: 1, rate: "20000", quota: "20000" }],
    quota: 20_000,
  });
  expect(await explained(members.admin, "model=no-price&prompt=1")).toBeNull();
  expect(await explained(members.user, "model=listed&prompt=1")).toBeNull();
  expect(await explained(members.user, `${ours}&group=default`)).toMatchObject({ group_ratio: "1", quota: 2790 });
  await app.database.db.updateTable("users").set({ group: "default" }).where("username", "=", "ann").execute();
  expect(await readCode(members.user.get(`/api/pricing/explain?${ours}&group=svip`))).toBe("K5");
});

test("group names are for administrators", async () => {
  expect(await members.admin.data(members.admin.get("/api/group/"))).toEqual(["default", "svip", "vip"]);
  expect(await readCode(members.user.get("/api/group"))).toBe("AU7");
});

// @weakness Money: The price that is shown is not the one that is charged
test("in self-use mode a model without a price is shown at the ratio that is charged", async () => {
  await setOptions(members.root, { SelfUseModeEnabled: "true" });
  const shown = rows((await app.anonymous().get("/api/pricing")).body).find((row) => row.model_name === "no-price");
  expect(shown).toMatchObject({ quota_type: 0, model_ratio: 1 });
  const query = "model=no-price&prompt=100&completion=0&cached=0&group=default";
  const { admin } = members;
  const explained = await admin.data<PricingExplanation>(admin.get(`/api/pricing/explain?${query}`));
  expect(explained).toMatchObject({ ratios: { model: shown?.model_ratio }, quota: 100 });
  await setOptions(members.root, { SelfUseModeEnabled: "false" });
});
