// Tags and end users of calls: where they are stored, shown and filtered, and what never goes upstream.
import type { LogPage, LogRow } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;

beforeAll(async () => {
  gateway = await startRelayApp();
  await gateway.channel("tag-model");
  await gateway.channel("claude-tag", { type: 14 });
  await gateway.option("TagPolicy", JSON.stringify({ keys: { app: {}, env: { values: ["prod"], strict: true } } }));
  await gateway.option("TagHeaders", JSON.stringify({ "X-LiteLLM-Tags": "app" }));
});

afterAll(() => gateway.close());

const PATHS: readonly (readonly [path: string, body: object])[] = [
  ["/v1/chat/completions", chat("tag-model")],
  ["/v1/responses", { model: "tag-model", input: "hi" }],
  ["/v1/messages", { model: "claude-tag", max_tokens: 5, messages: [{ role: "user", content: "hi" }] }],
  ["/v1beta/models/tag-model:generateContent", { contents: [{ parts: [{ text: "hi" }] }] }],
  ["/v1/embeddings", { model: "tag-model", input: "hi" }],
];

async function send(headers: Readonly<Record<string, string>>, body: object = chat("tag-model"), key?: string) {
  const token = key ?? (await gateway.token());
  const all = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
  return gateway.post("/v1/chat/completions", body, token, { headers: all });
}

async function readRows(query: string): Promise<readonly LogRow[]> {
  await gateway.settled();
  return (await gateway.root.must<LogPage>("GET", `/api/log/?p=1&page_size=50&${query}`)).items;
}

describe("a call with tags", () => {
  it("is stored with them in every protocol, and its headers never go upstream", async () => {
    const key = await gateway.token();
    for (const [at, [path, body]] of PATHS.entries()) {
      const headers = {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-fairway-tags": "app=sh%C3%B6p, env=prod, unknown=1",
        "x-fairway-end-user": `customer-${at}`,
      };
      const answer = await gateway.post(path, body, key, { headers });
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, expect.any(String)]);
      const sent = gateway.upstream.requests.at(-1);
      expect(Object.keys(sent?.headers ?? {}).filter((name) => name.startsWith("x-fairway"))).toEqual([]);
      const rows = await readRows(`type=2&end_user=customer-${at}`);
      expect(rows.map(({ tags, end_user: user }) => [tags, user])).toEqual([["app=shöp|env=prod", `customer-${at}`]]);
    }
  });

  it("is found by its tags, alone and together", async () => {
    const key = await gateway.token();
    await (await send({ "x-fairway-tags": "app=one,env=prod" }, chat("tag-model"), key)).text();
    await (await send({ "x-litellm-tags": "one, two" }, chat("tag-model"), key)).text();
    await (await send({}, chat("tag-model", { metadata: { app: "onemore" }, user: "u-1" }), key)).text();
    const count = async (tags: string) => (await readRows(`type=2&tags=${encodeURIComponent(tags)}`)).length;
    expect(await count("app=one")).toBe(2);
    expect(await count("app=one|env=prod")).toBe(1);
    expect(await count("app=onemore")).toBe(1);
    expect(await count("app=on")).toBe(0);
    expect(await count("pp")).toBe(0);
    expect(await count("app=%")).toBe(0);
    expect((await readRows("type=2&end_user=u-1")).map(({ tags }) => tags)).toEqual(["app=onemore"]);
  });

  it("has them in the export", async () => {
    await (await send({ "x-fairway-tags": "app=exported" })).text();
    await gateway.settled();
    const csv = await (
      await fetch(`${gateway.url}/api/log/export?tags=app%3Dexported`, { headers: gateway.root.headers })
    ).text();
    const [head = "", row = ""] = csv.split("\r\n");
    expect(row.split(",")[head.split(",").indexOf("tags")]).toBe("app=exported");
  });

  it("that is refused has them too", async () => {
    await (await send({ "x-fairway-tags": "app=refused" }, chat("missing-model"))).text();
    await expect
      .poll(() => readRows("type=5&tags=app%3Drefused"), { timeout: 10_000 })
      .toMatchObject([{ tags: "app=refused", model_name: "missing-model" }]);
  });
});

describe("a bad header", () => {
  it("is refused in the caller's protocol, before anything is sent or charged", async () => {
    const key = await gateway.token();
    const before = gateway.upstream.requests.length;
    for (const [path, body] of PATHS) {
      for (const text of ["app", "app=1,app=2", "env=dev"]) {
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "x-fairway-tags": text };
        const answer = await gateway.post(path, body, key, { headers });
        const shown = await answer.text();
        expect([path, text, answer.status, shown]).toEqual([path, text, 400, expect.stringContaining("tag")]);
        expect(shown).toContain(text === "env=dev" ? "The value dev of tag env is not allowed" : "X-Fairway-Tags");
      }
    }
    expect(gateway.upstream.requests.length).toBe(before);
  });
});

describe("a token", () => {
  it("has fixed tags that no client overrides, and a policy of its own", async () => {
    const key = await gateway.token({ fixed_tags: { app: "fixed", unit: "42" }, tags: { end_user: "required" } });
    expect((await send({ "x-fairway-tags": "app=other" }, chat("tag-model"), key)).status).toBe(400);
    const headers = { "x-fairway-tags": "app=other", "x-fairway-end-user": "fixed-1" };
    await (await send(headers, chat("tag-model"), key)).text();
    expect((await readRows("type=2&end_user=fixed-1")).map(({ tags }) => tags)).toEqual(["app=fixed|unit=42"]);
  });

  it("keeps both over edits that leave them out, and drops them for an empty object", async () => {
    const { root } = gateway;
    const made = await root.must<{ id: number }>("POST", "/api/token/", {
      name: "tagged",
      fixed_tags: { app: "shop" },
      tags: { keys: { app: { values: "any" } } },
    });
    await root.must("PUT", "/api/token/", { id: made.id, name: "renamed" });
    const read = () => root.must("GET", `/api/token/${made.id}`);
    expect(await read()).toMatchObject({ fixed_tags: { app: "shop" }, tags: { keys: { app: { values: "any" } } } });
    await root.must("PUT", "/api/token/", { id: made.id, name: "renamed", fixed_tags: {}, tags: {} });
    expect(await read()).toMatchObject({ fixed_tags: {}, tags: {} });
  });

  it.each([
    [{ fixed_tags: { App: "shop" } }, "fixed_tags"],
    [{ fixed_tags: { app: "a=b" } }, "fixed_tags.app"],
    [{ fixed_tags: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`k${at}`, "v"])) }, "fixed_tags"],
    [{ tags: { keys: { app: { values: [""] } } } }, "tags.keys.app.values"],
    [{ tags: { end_user: "maybe" } }, "tags.end_user"],
  ])("refuses %j and names the member", async (part, field) => {
    const answer = await gateway.root.call("POST", "/api/token/", { name: "bad", ...part });
    expect(answer).toMatchObject({ success: false, message: expect.stringContaining(field) as string });
  });
});
