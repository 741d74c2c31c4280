import { eachDatabase } from "@fairway/testkit/databases";
import type { Channel, DeclarativeChange } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";
import { reseal, verifyVault } from "../../storage/secrets/reseal.ts";
import { isSealed } from "../../storage/secrets/secrets.ts";

const SECRETS = ["proxy-password-1", "header-secret-22", "override-key-333", "param-token-4444"];
const [proxy = "", header = "", override = "", param = ""] = SECRETS;
const texts = {
  setting: JSON.stringify({
    proxy: `http://ops:${proxy}@127.0.0.1:9`,
    headers: { "x-tenant": header },
    limits: { rpm: 5 },
  }),
  header_override: JSON.stringify({ "x-gate": override, "x-title": "Fairway" }),
  param_override: JSON.stringify({ user_token: param, temperature: 0.5 }),
};
const form = {
  type: 1005,
  name: "one",
  key: "sk-operator-key-0123456789",
  models: "m",
  base_url: "http://127.0.0.1:9",
  ...texts,
};

eachDatabase("secrets in the settings of channels", (open) => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    for (const table of ["channels", "abilities", "audit_log", "managed_resources"] as const)
      await app.database.db.deleteFrom(table).execute();
  });

  const rows = () => app.database.db.selectFrom("channels").selectAll().orderBy("id").execute();
  const create = async (more: object = {}) => {
    await members.admin.data(members.admin.post("/api/channel/", { ...form, ...more }));
    return (await rows()).at(-1)?.id ?? 0;
  };
  const read = (id: number) => members.admin.data<Channel>(members.admin.get(`/api/channel/${id}`));
  const stored = async (id: number) => {
    const { setting, header_override, param_override } = (await app.operations.channels.store.get(id))!;
    return { setting, header_override, param_override };
  };
  const leaked = (text: string) => SECRETS.filter((secret) => text.includes(secret));

  // @weakness Providers' keys: Passwords of proxies and keys in headers are shown to administrators and in the audit
  test("are sealed in the database, hints in answers, and nowhere in the audit", async () => {
    const id = await create();
    const [row] = await rows();
    expect([row?.setting, row?.header_override, row?.param_override].map((text) => isSealed(text ?? ""))).toEqual([
      true,
      true,
      true,
    ]);
    const shown = await read(id);
    expect(JSON.parse(shown.setting)).toEqual({
      proxy: "http://ops:****@127.0.0.1:9",
      headers: { "x-tenant": "****" },
      limits: { rpm: 5 },
    });
    expect(JSON.parse(shown.header_override)).toEqual({ "x-gate": "****", "x-title": "Fairway" });
    expect(JSON.parse(shown.param_override)).toEqual({ user_token: "****", temperature: 0.5 });
    await members.admin.data(members.admin.put("/api/channel/", { id, ...texts, name: "two" }));
    await members.admin.data(members.admin.post("/api/channel/bulk", { action: "patch", ids: [id], patch: texts }));
    await members.admin.post("/api/channel/probe", { ...form, id, kind: "models" });
    await members.admin.data(members.admin.post(`/api/channel/${id}/copy`, {}));
    for (const path of [
      "/api/channel/",
      "/api/channel/search?keyword=o",
      "/api/search?q=one",
      "/api/channel/?tag_mode=true",
    ])
      expect(leaked(JSON.stringify((await members.admin.get(path)).body))).toEqual([]);
    expect(leaked(JSON.stringify((await members.root.get("/api/declarative/export")).body))).toEqual([]);
    expect(leaked(JSON.stringify(await app.database.db.selectFrom("audit_log").selectAll().execute()))).toEqual([]);
    expect(leaked(JSON.stringify(await rows()))).toEqual([]);
  });

  test("stay when a form sends its hints back, and change alone", async () => {
    const id = await create();
    const back = await read(id);
    await members.admin.data(members.admin.put("/api/channel/", { ...back, name: "two" }));
    expect(await stored(id)).toEqual(texts);
    const setting = { ...(JSON.parse(back.setting) as object), headers: { "x-tenant": "new-secret-5" } };
    await members.admin.data(members.admin.put("/api/channel/", { id, setting: JSON.stringify(setting) }));
    expect(JSON.parse((await stored(id)).setting ?? "")).toEqual({
      ...(JSON.parse(texts.setting) as object),
      headers: { "x-tenant": "new-secret-5" },
    });
    await members.admin.data(
      members.admin.put("/api/channel/", {
        id,
        setting: '{"limits":{"rpm":5}}',
        header_override: "",
        param_override: "",
      }),
    );
    expect((await rows())[0]).toMatchObject({
      setting: '{"limits":{"rpm":5}}',
      header_override: null,
      param_override: null,
    });
  });

  test("a hint that stands for nothing is refused, a proxy's at another address too", async () => {
    const id = await create();
    const put = (more: object) => readCode(members.admin.put("/api/channel/", { id, ...more }));
    expect(await put({ setting: '{"proxy":"http://ops:****@evil.example:9"}' })).toBe("G2");
    expect(await put({ setting: '{"headers":{"x-other":"****"}}' })).toBe("G2");
    expect(await readCode(members.admin.post("/api/channel/", { ...form, setting: '{"headers":{"x":"****"}}' }))).toBe(
      "G2",
    );
    expect(await stored(id)).toEqual(texts);
  });

  // @weakness Providers' keys: A secret header goes to another server, because only the key was typed again
  test("do not go to another server because the key is typed again", async () => {
    const id = await create();
    const back = await read(id);
    const moved = { ...back, key: "sk-mine", base_url: "http://evil.example" };
    expect(await readCode(members.admin.put("/api/channel/", moved))).toBe("CH21");
    const { setting, header_override, param_override } = back;
    const hints = { setting, header_override, param_override };
    const probe = { id, type: 1005, key: "sk-mine", base_url: moved.base_url, ...hints, kind: "models" };
    expect(await readCode(members.admin.post("/api/channel/probe", probe))).toBe("CH21");
    const copy = { ...moved, id: undefined, copy_from: id, key: "" };
    expect(await readCode(members.admin.post("/api/channel/", copy))).toBe("CH21");
    const mine = {
      ...form,
      name: "mine",
      base_url: "http://evil.example",
      setting: "",
      header_override: "",
      param_override: "",
    };
    await members.admin.data(members.admin.post("/api/channel/", mine));
    const other = (await rows()).at(-1)?.id;
    const sync = { action: "sync", ids: [other], from: id };
    const results = await members.admin.data<{ success: boolean }[]>(members.admin.post("/api/channel/bulk", sync));
    expect(results.map(({ success }) => success)).toEqual([false]);
    const without = { ...moved, setting: '{"limits":{"rpm":5}}', header_override: "", param_override: "" };
    await members.admin.data(members.admin.put("/api/channel/", without));
  });

  test("come with a copy, by the hints that a list shows", async () => {
    const id = await create();
    const back = await read(id);
    await members.admin.data(members.admin.post("/api/channel/", { ...back, name: "copy", key: String(id) }));
    const made = (await rows()).at(-1)?.id ?? 0;
    expect(await stored(made)).toEqual(texts);
  });

  test("documents keep them by the hints of an export, and no plan shows them", async () => {
    await create({ header_override: "", param_override: "" });
    const [document] = await members.root.data<{ spec: Record<string, unknown> }[]>(
      members.root.get("/api/declarative/export?kind=Channel"),
    );
    const { credentialsFrom: _key, ...spec } = document?.spec ?? {};
    const send = (verb: string, settings: unknown) =>
      members.root.post(`/api/declarative/${verb}`, {
        manager: "m",
        documents: [{ ...document, spec: { ...spec, settings } }],
      });
    const changes = await members.root.data<DeclarativeChange[]>(send("plan", spec["settings"]));
    expect(changes.map(({ action }) => action)).toEqual(["unchanged"]);
    const secret = { ...(spec["settings"] as object), headers: { "x-tenant": "next-secret-6" } };
    const plan = await send("plan", secret);
    expect(JSON.stringify(plan.body)).toContain('"settings"');
    expect(
      leaked(JSON.stringify(plan.body)).concat(JSON.stringify(plan.body).includes("next-secret-6") ? "new" : []),
    ).toEqual([]);
    await members.root.data(send("apply", secret));
    const [row] = await rows();
    expect(JSON.parse((await stored(row?.id ?? 0)).setting ?? "")).toMatchObject({
      proxy: `http://ops:${proxy}@127.0.0.1:9`,
      headers: { "x-tenant": "next-secret-6" },
    });
  });

  test("are sealed with the keys: by a reseal, and checked at the start", async () => {
    const id = await create();
    const db = app.database.db;
    await db.updateTable("channels").set({ setting: texts.setting }).where("id", "=", id).execute();
    expect(await reseal(app.database, app.vault)).toBe(1);
    expect(isSealed((await rows())[0]?.setting ?? "")).toBe(true);
    expect(await stored(id)).toEqual(texts);
    const foreign = { param_override: (await rows())[0]?.setting ?? "" };
    await db.updateTable("channels").set(foreign).where("id", "=", id).execute();
    await expect(verifyVault(app.database, app.vault)).rejects.toThrow("does not open");
  });
});
