import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CHANNEL_KEY, openChannelKit, type ChannelKit } from "../../../test/kit/channel-kit.ts";
import { readCode } from "../../../test/kit/members.ts";

let kit: ChannelKit;
beforeAll(async () => {
  kit = await openChannelKit();
});
afterAll(() => kit.close());
beforeEach(() => kit.reset());

describe("headers of a channel", () => {
  test.each([
    ["setting", { setting: '{"headers":{"X-Tenant":"t-1","api-key":"{key}"}}' }],
    ["header_override", { header_override: '{"X-Tenant":"t-1","api-key":"{key}"}' }],
    [
      "both, where header_override wins",
      {
        setting: '{"headers":{"X-Tenant":"other","api-key":"{key}"}}',
        header_override: '{"X-Tenant":"t-1"}',
      },
    ],
  ])("in %s go with calls and lists of any type", async (_, texts) => {
    const { admin, create, upstream } = kit;
    const id = await create({ type: 1, ...texts });
    await admin.get(`/api/channel/test/${id}`);
    await admin.get(`/api/channel/fetch_models/${id}`);
    const sent = upstream.requests.map(({ headers }) => [headers["x-tenant"], headers["api-key"]]);
    // A plain request, a streamed one, the list that the first test reads, and the list.
    expect(sent).toEqual(Array.from({ length: 4 }, () => ["t-1", CHANNEL_KEY]));
    const { setting, header_override } = await admin.data<{ setting: string; header_override: string }>(
      admin.get(`/api/channel/${id}`),
    );
    expect(setting + header_override).not.toContain("t-1");
  });

  test("take the place of the vendor's", async () => {
    const id = await kit.create({ type: 1, header_override: '{"Authorization":"Token {key}"}' });
    await kit.admin.get(`/api/channel/test/${id}`);
    expect(kit.upstream.requests[0]?.headers["authorization"]).toBe(`Token ${CHANNEL_KEY}`);
  });

  test.each(["Host", "content-length", "transfer-encoding", "Connection", "sec-websocket-key", "a b", "x\ny"])(
    "cannot be %j",
    async (name) => {
      const header_override = JSON.stringify({ [name]: "v" });
      const form = { name: "c", key: CHANNEL_KEY, models: "m" };
      expect(await readCode(kit.admin.post("/api/channel/", { ...form, header_override }))).toBe("G2");
      const setting = JSON.stringify({ headers: { [name]: "v" } });
      expect(await readCode(kit.admin.post("/api/channel/", { ...form, setting }))).toBe("G2");
    },
  );

  test.each(['{"x":1}', '{"x":"line\\nbreak"}', '{"x":"ü"}', "[]", "no json"])(
    "cannot have the values of %s",
    async (text) => {
      const form = { name: "c", key: CHANNEL_KEY, models: "m", header_override: text };
      expect(await readCode(kit.admin.post("/api/channel/", form))).toBe("G2");
    },
  );
});
