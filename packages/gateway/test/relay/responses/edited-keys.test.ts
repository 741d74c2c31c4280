// What an upstream stores is found by the key that stored it, wherever that key is in the channel's list now.
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StoredAccount } from "@fairway/wire";
import { readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const MODEL = "edited";
const KEYS = ["sk-first-account-01", "sk-second-account-2", "sk-third-account-03"];
let channel = 0;
let serial = 0;

beforeAll(async () => {
  channel = await relay.gateway.channel(MODEL, { key: KEYS.join("\n"), multi_key: true });
});

beforeEach(async () => {
  await edit(KEYS);
  relay.gateway.upstream.script("/responses", (request) => ({
    body: {
      id: `resp_${++serial}`,
      object: "response",
      status: "completed",
      model: MODEL,
      output: [],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      account: String(request.headers.authorization).replace("Bearer ", ""),
    },
  }));
});

const edit = (keys: readonly string[], more: object = {}) =>
  relay.gateway.root.must("PUT", "/api/channel/", { id: channel, key: keys.join("\n"), setting: "{}", ...more });

const ask = (more: object = {}) =>
  relay.gateway.post("/v1/responses", { model: MODEL, input: "hi", ...more }, relay.key);

interface Answer {
  readonly id: string;
  readonly account: string;
}

const begin = async () => (await (await ask()).json()) as Answer;
const continueFrom = async ({ id }: Answer) =>
  (await (await ask({ previous_response_id: id })).json()) as Answer & { readonly error?: { readonly code: string } };

describe("a stored response", () => {
  it("is continued with its key after the keys were reordered, and after another one was removed", async () => {
    for (let turn = 0; turn < 4; turn++) {
      await edit(KEYS);
      const first = await begin();
      await edit(KEYS.toReversed());
      expect((await continueFrom(first)).account).toBe(first.account);
      const other = KEYS.find((key) => key !== first.account) ?? "";
      await edit(KEYS.filter((key) => key !== other));
      expect((await continueFrom(first)).account).toBe(first.account);
    }
  });

  it("is out of reach while its key is missing, and continued when the key is back", async () => {
    const first = await begin();
    await edit(KEYS.filter((key) => key !== first.account));
    const refused = await ask({ previous_response_id: first.id });
    expect([refused.status, (await readError(refused)).code]).toEqual([400, "previous_response_unavailable"]);
    const read = await fetch(`${relay.gateway.url}/v1/responses/${first.id}`, {
      headers: { authorization: `Bearer ${relay.key}` },
    });
    expect(read.status).toBe(400);
    await edit(KEYS.toReversed());
    expect((await continueFrom(first)).account).toBe(first.account);
  });

  it("is continued with the key that took its account over", async () => {
    const first = await begin();
    const { root } = relay.gateway;
    const list = () => root.must<StoredAccount[]>("GET", `/api/channel/${channel}/objects`);
    const from = (await list()).find(({ key_index: index }) => index === KEYS.indexOf(first.account))?.mark;
    await edit([...KEYS.filter((key) => key !== first.account), "sk-new-key-of-the-account"]);
    const to = (await list()).find(({ key_index: index }) => index === 2)?.mark;
    await root.must("POST", `/api/channel/${channel}/objects/rebind`, { from_mark: from, to_mark: to });
    expect((await continueFrom(first)).account).toBe("sk-new-key-of-the-account");
  });

  it("is continued with any key where all keys open one account", async () => {
    const first = await begin();
    const setting = JSON.stringify({ files_scope: "channel" });
    await edit(["sk-replaced-account", ...KEYS.filter((key) => key !== first.account)], { setting });
    expect((await continueFrom(first)).account).toBe("sk-replaced-account");
  });

  it("of an earlier version, which stored no mark, is continued at its place in the list", async () => {
    const first = await begin();
    await expect
      .poll(async () => {
        const sql = "update response_owners set key_mark = '' where response_id = ?";
        return relay.gateway.database.raw.run(sql, [first.id]);
      })
      .toBe(1);
    expect((await continueFrom(first)).account).toBe(first.account);
  });
});
