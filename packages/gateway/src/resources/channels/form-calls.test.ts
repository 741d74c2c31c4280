import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CHANNEL_KEY as KEY, openChannelKit, type ChannelKit } from "../../../test/kit/channel-kit.ts";
import { readCode, readRefusal } from "../../../test/kit/members.ts";

let kit: ChannelKit;
let upstream: ChannelKit["upstream"];
let admin: ChannelKit["admin"];
let create: ChannelKit["create"];

beforeAll(async () => {
  kit = await openChannelKit();
  ({ upstream, admin, create } = kit);
});
afterAll(() => kit.close());
beforeEach(() => kit.reset());

describe("model lists", () => {
  beforeEach(() => upstream.script("/v1/models", () => ({ body: { data: [{ id: "b" }, { id: "a" }, { id: "b" }] } })));

  test("come from the upstream of a stored channel of type 1", async () => {
    expect(await admin.data(admin.get(`/api/channel/fetch_models/${await create()}`))).toEqual(["b", "a"]);
    expect(upstream.requests[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(await readRefusal(admin.get(`/api/channel/fetch_models/${await create({ type: 14 })}`))).toEqual([
      200,
      "CH9",
      "Only supports OpenAI interface format.",
    ]);
    expect(await readCode(admin.get("/api/channel/fetch_models/999999"))).toBe("CH8");
  });

  test("come for a form with the first of its keys", async () => {
    const ask = (body: unknown) => admin.post("/api/channel/fetch_models", body);
    expect(await admin.data(ask({ type: 1, base_url: `${upstream.url}/`, key: "sk-1\nsk-2" }))).toEqual(["b", "a"]);
    expect(upstream.requests[0]?.headers["authorization"]).toBe("Bearer sk-1");
    expect(await readRefusal(ask({ type: 1, key: " " }))).toEqual([200, "CH19", "Please enter the key."]);
    expect(await readCode(ask({ type: 3, key: "k" }))).toBe("CH9");
    for (const own of [
      { type: 1005, base_url: upstream.url, key: "" },
      { type: 1005, base_url: upstream.url, key: "k" },
      { type: 8, base_url: `${upstream.url}/{path}`, key: "k" },
    ])
      expect(await admin.data(ask(own))).toEqual(["b", "a"]);
    upstream.script("/api/tags", () => ({ body: { models: [{ model: "llama" }] } }));
    expect(await admin.data(ask({ type: 4, base_url: upstream.url, key: "" }))).toEqual(["llama"]);
    upstream.script("/v1/models", () => ({ status: 401, body: { error: {} } }));
    expect(await readRefusal(ask({ base_url: upstream.url, key: "k" }))).toEqual([
      200,
      "CH10",
      "Failed to retrieve the model list: the upstream answered with status 401.",
    ]);
    expect(await readCode(ask({ base_url: "http://127.0.0.1:1", key: "k" }))).toBe("CH10");
    expect(await readCode(ask({ base_url: "no address", key: "k" }))).toBe("G2");
  });
});

describe("trying an unsaved form", () => {
  const probe = (body: unknown) => admin.post("/api/channel/probe", body);

  test("tests it or lists its models, and stores nothing", async () => {
    const form = { type: 1, key: KEY, base_url: upstream.url };
    expect(await admin.data(probe({ ...form, model: "gpt-4o" }))).toMatchObject({
      ok: true,
      message: "",
      latency_ms: expect.any(Number) as number,
    });
    expect(await admin.data(probe({ ...form, model: "status-404" }))).toMatchObject({ ok: false, status: 404 });
    upstream.script("/v1/models", () => ({ body: { data: [{ id: "a" }] } }));
    expect(await admin.data(probe({ ...form, kind: "models" }))).toMatchObject({ ok: true, models: ["a"] });
    upstream.script("/v1/models", () => ({ status: 503, body: {} }));
    expect(await admin.data(probe({ ...form, kind: "models" }))).toMatchObject({ ok: false, models: [] });
    expect(await admin.data(admin.get("/api/channel/"))).toEqual([]);
  });

  test("uses the stored key of a channel that is being edited", async () => {
    const id = await create();
    await admin.data(probe({ id, base_url: upstream.url, model: "gpt-4o" }));
    expect(upstream.requests[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
  });

  test("refuses what cannot be tried", async () => {
    expect(await readCode(probe({ type: 1 }))).toBe("CH19");
    expect(await readCode(probe({ type: 1, key: "k", kind: "x" }))).toBe("G1");
    expect(await readCode(probe({ type: 41, key: "k" }))).toBe("CH5");
    expect(await readCode(probe({ type: 41, key: "k", other: "{}" }))).toBe("CH6");
    expect(await readCode(probe({ type: 999, key: "k" }))).toBe("CH15");
    expect(await readCode(probe({ id: 999_999 }))).toBe("CH8");
    expect(await readCode(probe({ type: 2, key: "k" }))).toBe("CH12");
    expect(await readCode(probe({ type: 21, key: "k", kind: "models", base_url: upstream.url }))).toBe("CH9");
    expect(await readCode(probe({ key: "k", models: "m".repeat(256) }))).toBe("CH7");
  });
});
