import { createDatabase } from "@fairway/testkit/databases";
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";
import { readRefusal, signInMembers, type Members } from "../kit/members.ts";

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
}, 60_000);
afterAll(() => app.close());

const ENDPOINTS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" && value !== null && "access" in value && "method" in value,
);

function listBodyMembers(body: wire.Endpoint["body"]): readonly string[] {
  const { shape = {} } = (body?._zod.def ?? {}) as { readonly shape?: object };
  return Object.keys(shape);
}

const unknown = (field: string, near?: string) => [
  200,
  "G2",
  `Invalid input: ${field} is no member of this call${near === undefined ? "" : `; did you mean ${near}?`}.`,
];

/** Preferences are what the console composes. */
const FREE = "selfPreferencesUpdate";

describe("an unknown member of a write", () => {
  // @weakness Injection and parsing: A misspelt member is ignored, and the write answers success
  test("is refused by every call, with its name and the nearest known one", async () => {
    const faults: unknown[] = [];
    for (const endpoint of ENDPOINTS.filter(({ name, body }) => name !== FREE && listBodyMembers(body).length > 0)) {
      const [known = ""] = listBodyMembers(endpoint.body);
      const misspelt = `${known}x`;
      const path = endpoint.path.replaceAll(/\{\w+\}/g, "999999");
      const query = endpoint.name.endsWith("SetStatus") && endpoint.method === "PUT" ? "?status_only=true" : "";
      const reply = await members.root.call(endpoint.method, path + query, { body: { [misspelt]: 1 } });
      const { field, message } = reply.body as { field?: string; message?: string };
      if (field !== misspelt || !message?.endsWith(`did you mean ${known}?.`)) faults.push([endpoint.name, reply.text]);
    }
    expect(faults).toEqual([]);
  }, 60_000);

  test("leaves what is stored as it was", async () => {
    const { root } = members;
    const budget = { scope: "group", subject: "vip", period: "month", quota_limit: 5 };
    const { id } = await root.data<wire.Budget>(root.post("/api/budget/", budget));
    for (const [change, answer] of [
      [{ period: "week" }, unknown("period")],
      [{ scope: "user" }, unknown("scope")],
      [{ quota_limt: 7 }, unknown("quota_limt", "quota_limit")],
    ] as const)
      expect(await readRefusal(root.put("/api/budget/", { id, quota_limit: 9, ...change }))).toEqual(answer);
    expect(await root.data(root.get(`/api/budget/${id}`))).toMatchObject(budget);

    const token = await root.data<wire.Token>(root.post("/api/token/", { name: "t", remain_quota: 7 }));
    const misspelt = { id: token.id, name: "t", remain_quta: 9 };
    expect(await readRefusal(root.put("/api/token/", misspelt))).toEqual(unknown("remain_quta", "remain_quota"));
    expect(await root.data(root.get(`/api/token/${token.id}`))).toMatchObject({ remain_quota: 7 });

    const channel = { name: "c", type: 1, key: "sk-1", models: "m", base_ulr: "https://x.example" };
    expect(await readRefusal(root.post("/api/channel/", channel))).toEqual(unknown("base_ulr", "base_url"));
    const nested = { mode: "single", channel };
    expect(await readRefusal(root.post("/api/channel/", nested))).toEqual(unknown("channel.base_ulr", "base_url"));
    const patch = { ids: [1], action: "patch", patch: { priorty: 1 } };
    expect(await readRefusal(root.post("/api/channel/bulk", patch))).toEqual(unknown("patch.priorty", "priority"));
    const list = [{ key: "Notice", value: "x", kind: "y" }];
    expect(await readRefusal(root.put("/api/option/batch", list))).toEqual(unknown("kind"));
  });

  test("of a feature that compatible consoles have passes when blank and is refused when filled", async () => {
    const { root } = members;
    const channel = { name: "c", type: 1, key: "sk-1", models: "m", group: "default" };
    const blank = { header_override: "", settings: "{}", remark: "", channel_info: { is_multi_key: false } };
    await root.data(root.post("/api/channel/", { ...channel, ...blank, multi_key_mode: "random" }));
    const [row] = await root.data<wire.Channel[]>(root.get("/api/channel/"));
    await root.data(root.put("/api/channel/", { ...row, ...blank, multi_key_mode: "random" }));
    const filled = {
      settings: '{"vertex_key_type":"api_key"}',
      remark: "mine",
      multi_key_mode: "polling",
    };
    for (const [field, value] of Object.entries(filled)) {
      const refused = [200, "G2", `Invalid input: ${field} is not supported; leave it empty.`];
      expect(await readRefusal(root.put("/api/channel/", { id: row?.id, [field]: value }))).toEqual(refused);
    }
    const code = { name: "gift", quota: 5, count: 1 };
    await root.data(root.post("/api/redemption/", { ...code, expired_time: 0 }));
    expect(await readRefusal(root.post("/api/redemption/", { ...code, expired_time: 1_900_000_000 }))).toEqual([
      200,
      "G2",
      "Invalid input: expired_time is not supported; leave it empty.",
    ]);
  });
});
