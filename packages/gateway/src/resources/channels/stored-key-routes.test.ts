import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CHANNEL_KEY, openChannelKit, type ChannelKit } from "../../../test/kit/channel-kit.ts";
import { readCode } from "../../../test/kit/members.ts";

let kit: ChannelKit;
beforeAll(async () => {
  kit = await openChannelKit();
});
afterAll(() => kit.close());
beforeEach(() => kit.reset());

const HIDDEN_PATH = String.raw`{"p\u0061ths":{"chat":"\u0068ttp://evil.example/x"}}`;
const compatible = { type: 1005, base_url: "https://llm.example" };
const byModel = { type: 8, base_url: "https://{model}.llm.example/v1", models: "one" };

// @weakness Providers' keys: One of the ways to write a channel sends its stored key to another server
test("every way to write a channel keeps its stored key from other servers", async () => {
  const { admin, create } = kit;
  const id = await create(compatible);
  const named = await create({ ...byModel, tag: "berth" });
  const source = await create({ setting: HIDDEN_PATH, ...compatible });
  const put = (body: object) => admin.put("/api/channel/", body);
  const calls: readonly (readonly [string, Promise<unknown>])[] = [
    ["edit", readCode(put({ id, setting: HIDDEN_PATH }))],
    ["edit of a mapping", readCode(put({ id: named, model_mapping: String.raw`{"one":"\u0065vil"}` }))],
    ["edit of the models", readCode(put({ id: named, models: "one,evil" }))],
    [
      "edit of all of a tag",
      readCode(admin.put("/api/channel/tag", { tag: "berth", model_mapping: '{"one":"evil"}' })),
    ],
    ["models of a tag", readCode(admin.put("/api/channel/tag", { tag: "berth", models: "one,evil" }))],
    [
      "copy",
      readCode(
        admin.post("/api/channel/", { name: "c", models: "m", copy_from: id, ...compatible, setting: HIDDEN_PATH }),
      ),
    ],
    ["probe", readCode(admin.post("/api/channel/probe", { id, ...compatible, setting: HIDDEN_PATH }))],
    ["probe of a model", readCode(admin.post("/api/channel/probe", { id: named, ...byModel, model: "evil" }))],
    ["test of a model", readCode(admin.get(`/api/channel/test/${named}?model=evil`))],
  ];
  for (const [what, answer] of calls) expect([what, await answer]).toEqual([what, "CH21"]);
  for (const body of [
    { action: "patch", ids: [id], patch: { setting: HIDDEN_PATH } },
    { action: "sync", ids: [id], from: source },
  ]) {
    const results = await admin.data<{ success: boolean }[]>(admin.post("/api/channel/bulk", body));
    expect([body.action, ...results.map(({ success }) => success)]).toEqual([body.action, false]);
  }
  expect(await kit.row(id)).toMatchObject({ setting: null, version: 1 });
  expect(await kit.row(named)).toMatchObject({ models: "one", model_mapping: "", version: 1 });
});

test("two edits at once do no more than one after the other", async () => {
  const { admin, create } = kit;
  const id = await create({ ...compatible, type: 1 });
  const edits = [{ type: 1005 }, { setting: HIDDEN_PATH }].map((body) =>
    readCode(admin.put("/api/channel/", { id, ...body })),
  );
  await Promise.all(edits);
  const { type, setting } = await kit.row(id);
  expect(type === 1005 && setting !== null).toBe(false);
});

test("no address leaves its host, or a vendor's region, open", async () => {
  const { admin } = kit;
  const form = { name: "c", key: CHANNEL_KEY, models: "m" };
  const save = (more: object) => admin.post("/api/channel/", { ...form, ...more });
  for (const more of [
    { type: 8, base_url: "https://{model}/v1" },
    { type: 8, base_url: "https://x.{model}:8443/v1" },
    { type: 41, other: "evil.example:8443/x?" },
    { type: 41, other: String.raw`{"default":"\u0065vil.example/x?"}` },
  ]) {
    expect((await save(more)).body).toMatchObject({ success: false });
  }
  expect((await save({ type: 41, other: '{"default":"europe-west1","m":"global"}' })).body).toMatchObject({
    success: true,
  });
});

// @weakness Network: A channel is saved at a metadata address, and only its calls fail
test("no channel is saved at a forbidden address, by whatever member it is reached", async () => {
  const { admin, create } = kit;
  const id = await create(compatible);
  const form = { name: "c", key: CHANNEL_KEY, models: "m", ...compatible };
  for (const more of [
    { base_url: "http://169.254.169.254/latest" },
    { base_url: "http://0xa9fea9fe/" },
    { base_url: "http://[::ffff:0:a9fe:a9fe]/" },
    { base_url: "http://metadata.google.internal/" },
    { setting: String.raw`{"paths":{"chat":"\u0068ttp://[fd20:ce::254]/x"}}` },
    { setting: '{"proxy":"http://169.254.169.254:80"}' },
    { setting: '{"proxy":"http://10.0.0.1:3128"}', base_url: "http://169.254.169.254/" },
    { type: 8, base_url: "http://{model}.169.254/v1", models: "169.254" },
    {
      type: 41,
      other: "eu",
      base_url: "",
      key: JSON.stringify({
        project_id: "p",
        client_email: "e",
        private_key: "k",
        token_uri: "http://169.254.169.254/t",
      }),
    },
  ]) {
    const refused = [JSON.stringify(more), "G2"];
    expect([
      JSON.stringify(more),
      await readCode(kit.members.root.post("/api/channel/", { ...form, ...more })),
    ]).toEqual(refused);
    const edit = { id, ...more, key: more.key ?? CHANNEL_KEY };
    expect([JSON.stringify(more), await readCode(kit.members.root.put("/api/channel/", edit))]).toEqual(refused);
  }
  const patch = { action: "patch", ids: [id], patch: { base_url: "http://169.254.169.254/" } };
  const results = await admin.data<{ success: boolean }[]>(kit.members.root.post("/api/channel/bulk", patch));
  expect(results.map(({ success }) => success)).toEqual([false]);
  expect(await kit.row(id)).toMatchObject({ base_url: compatible.base_url, version: 1 });
});

test("a channel that is at such an address already can be saved as it is", async () => {
  const id = await kit.create(compatible);
  const base_url = "http://169.254.169.254";
  await kit.app.database.db.updateTable("channels").set({ base_url }).where("id", "=", id).execute();
  const put = (more: object) => kit.admin.put("/api/channel/", { id, base_url, ...more });
  expect((await put({ name: "renamed" })).body).toMatchObject({ success: true });
});
