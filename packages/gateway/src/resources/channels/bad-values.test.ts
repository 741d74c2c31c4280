import { createDatabase } from "@fairway/testkit/databases";
import type { Channel } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

let app: ManagementApp;
let root: ApiCaller;
let id: number;
const FORM = { name: "one", type: 1, key: "sk-realkey-0001", models: "m", group: "default" };

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  root = await app.signIn("root");
  await root.data(root.post("/api/channel/", FORM));
  id = (await root.data<Channel[]>(root.get("/api/channel/")))[0]?.id ?? 0;
});
afterAll(() => app.close());

/** Returns the member that the refusal names, for each way to save a value. */
async function refusedFields(field: string, value: string): Promise<unknown[]> {
  const change = { [field]: value };
  const replies = [
    await root.post("/api/channel/", { ...FORM, ...change }),
    await root.put("/api/channel/", { id, ...change }),
    await root.post("/api/channel/", { mode: "multi_to_single", channel: { ...FORM, ...change } }),
    await root.post("/api/channel/probe", { ...FORM, ...change, base_url: "http://127.0.0.1:9", kind: "models" }),
  ];
  return [...new Set(replies.map(({ body }) => body["field"]))];
}

describe("a value that could never work", () => {
  // @weakness Providers' keys: A masked key is stored over the real one
  test.each(["sk-****abcd", "sk-...abcd", "sk-ab…cd", "sk-••••", "sk-1\nsk-***2"])(
    "%j is refused as a masked key",
    async (key) => {
      expect(await refusedFields("key", key)).toEqual(["key"]);
    },
  );

  test.each(["sk-\u200bhidden", "sk-🔑", "sk-ключ", "sk-a\tb\u00a0c"])(
    "%j is refused as a key that no header carries",
    async (key) => {
      expect(await refusedFields("key", key)).toEqual(["key"]);
    },
  );

  test("of a list or a mapping is refused with its member", async () => {
    for (const models of ["*", "m,*", "claude-*", "m，nb1", "m、n"])
      expect([models, await refusedFields("models", models)]).toEqual([models, ["models"]]);
    expect(await refusedFields("group", "default，vip")).toEqual(["group"]);
    for (const mapping of ['{"m":""}', '{"m":" "}', '{"":"x"}'])
      expect(await refusedFields("model_mapping", mapping)).toEqual(["model_mapping"]);
    for (const mapping of [
      '{"404":"abc"}',
      '{"abc":"404"}',
      '{"404":200}',
      '{"404":null}',
      '{"404":"600"}',
      '{"99":"500"}',
    ])
      expect(await refusedFields("status_code_mapping", mapping)).toEqual(["status_code_mapping"]);
    expect(await refusedFields("openai_organization", "org-…")).toEqual(["openai_organization"]);
    expect(await root.data(root.get(`/api/channel/${id}`))).toMatchObject({ models: "m", key_count: 1 });
  });

  test("is distinguished from what works", async () => {
    const good = {
      key: "AKIA|se/cret+=|us-east-1",
      models: "gpt-4-gizmo-*,deepseek-r1:70b,模型",
      model_mapping: '{"a":"b"}',
      status_code_mapping: '{"404":"500","400":429}',
    };
    await root.data(root.put("/api/channel/", { id, ...good }));
    const file = '{\n "type": "service_account",\n "client": "Ключ…"\n}';
    await root.data(root.put("/api/channel/", { id, key: file }));
  });
});
