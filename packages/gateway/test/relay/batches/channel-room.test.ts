// A channel takes only as many open batches, and tokens in them, as its setting and its upstream allow.
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NEVER } from "../../../src/batches/lost.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { readError, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { createTenant } from "../../kit/tenants.ts";

const MODEL = "claude-haiku-4-5";
/** Waits for a person. */
const OVER = { phase: "stuck", next_poll_at: NEVER } as const;

describe.each(["sqlite", "mariadb", "postgres"] as const)("message batches on %s", (kind) => {
  let gateway: RelayApp;
  let channels: readonly number[];
  let key: string;
  beforeAll(async () => {
    gateway = await startRelayApp({ FAIRWAY_DATABASE_URL: await createDatabase(kind) });
    await gateway.option("BatchMaxOpenPerUser", 0);
    channels = [await addChannel(9), await addChannel(5)];
  }, 120_000);
  afterAll(() => gateway.close());
  beforeEach(async () => {
    gateway.upstream.reset();
    key = await createTenant(gateway);
    // The batches of the test before are no longer open, and no job follows them again.
    const over = gateway.database.db.updateTable("batches").set(OVER);
    await over.where("phase", "in", ["creating", "open", "stuck"]).execute();
  });

  const addChannel = (priority: number) => gateway.channel(MODEL, { type: 14, key: `sk-${priority}`, priority });

  async function limit(at: number, setting: object): Promise<void> {
    await gateway.root.must("PUT", "/api/channel/", { id: channels[at], setting: JSON.stringify(setting) });
  }

  const create = (text = "one", of = key) =>
    fetch(`${gateway.url}/v1/messages/batches`, {
      method: "POST",
      headers: { "x-api-key": of, "anthropic-version": "2023-06-01", "content-type": "application/json" },
      body: JSON.stringify({
        requests: [
          { custom_id: "a", params: { model: MODEL, max_tokens: 9, messages: [{ role: "user", content: text }] } },
        ],
      }),
    });

  const listOpen = () =>
    gateway.database.db.selectFrom("batches").selectAll().where("phase", "in", ["creating", "open"]).execute();

  async function countAt(): Promise<number[]> {
    const open = await listOpen();
    return channels.map((id) => open.filter(({ channel_id: at }) => at === id).length);
  }

  it("go to the next channel when one is full, and are refused when all are, also when they come at once", async () => {
    await limit(0, { batch_max_open: 3 });
    await limit(1, { batch_max_open: 2 });
    // Users do not wait for each other's lock.
    const keys = await Promise.all(Array.from({ length: 4 }, () => createTenant(gateway)));
    const answers = await Promise.all(Array.from({ length: 20 }, (_none, at) => create("one", keys[at % 4])));
    expect(await countAt()).toEqual([3, 2]);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 15 }, () => 429));
    expect(refused[0]?.headers.get("retry-after")).toBe("300");
    expect(await refused[0]?.json()).toMatchObject({
      error: { message: expect.stringContaining("send it again when some have ended") as string },
    });
    expect(gateway.upstream.batches.batches.size).toBe(5);
    const [first] = await listOpen();
    const over = gateway.database.db.updateTable("batches").set(OVER);
    await over.where("id", "=", first?.id ?? "").execute();
    const again = await Promise.all(Array.from({ length: 3 }, () => create()));
    expect(again.filter(({ status }) => status === 200)).toHaveLength(1);
    await gateway.settled();
    expect(await checkLedgerSums(gateway.database.raw)).toEqual([]);
  });

  it("count by their tokens, and one that never fits is refused with the cure", async () => {
    await limit(0, { batch_max_tokens: 1_000 });
    await limit(1, { batch_max_tokens: 500 });
    const text = "word ".repeat(300);
    expect((await create(text)).status).toBe(200);
    const [row] = await listOpen();
    const parts = Object.values(JSON.parse(row?.models ?? "{}") as Record<string, { promptTokens: number }>);
    const tokens = parts[0]?.promptTokens ?? 0;
    const fits = Math.floor(1_000 / tokens) + Math.floor(500 / tokens);
    expect(fits).toBeGreaterThan(2);
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(text)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(fits - 1);
    const large = await create("word ".repeat(3_000));
    expect(large.status).toBe(400);
    expect((await large.json()) as object).toMatchObject({
      error: {
        message: expect.stringMatching(/no channel for it takes more than 1000 in open batches: split it/) as string,
      },
    });
  });

  it("are not limited where the setting says nothing", async () => {
    await limit(0, {});
    await limit(1, {});
    const answers = await Promise.all(Array.from({ length: 8 }, () => create()));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await countAt()).toEqual([8, 0]);
  });
});

describe("batches of files", () => {
  const model = "gpt-5.6";
  const endpoint = "/v1/chat/completions";
  let gateway: RelayApp;
  let key: string;
  let channel: number;
  beforeAll(async () => {
    gateway = await startRelayApp();
    channel = await gateway.channel(model, { type: 1 });
    key = await gateway.token();
  }, 60_000);
  afterAll(() => gateway.close());

  async function create(): Promise<Response> {
    const body = { model, max_completion_tokens: 9, messages: [{ role: "user", content: "x" }] };
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new Blob([JSON.stringify({ custom_id: "a", method: "POST", url: endpoint, body })]), "in.jsonl");
    const headers = { authorization: `Bearer ${key}` };
    const file = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
    const { id } = (await file.json()) as { id: string };
    return gateway.post("/v1/batches", { input_file_id: id, endpoint, completion_window: "24h" }, key);
  }

  async function readCode(response: Response): Promise<readonly [number, unknown]> {
    return [response.status, (await readError(response)).code];
  }

  const limit = (setting: object) =>
    gateway.root.must("PUT", "/api/channel/", { id: channel, setting: JSON.stringify(setting) });

  it("stay at the channel of their file, and wait for room there", async () => {
    await limit({ batch_max_open: 1 });
    const first = (await (await create()).json()) as { id: string };
    expect(await readCode(await create())).toEqual([429, "batch_queue_full"]);
    await limit({ batch_max_tokens: 1 });
    expect(await readCode(await create())).toEqual([400, "unsupported_by_channel"]);
    await limit({});
    expect(first.id).toMatch(/^batch_/);
  });

  it("rest for ten minutes after the upstream had no room for one", async () => {
    const { id } = (await (await create()).json()) as { id: string };
    const rows = gateway.database.db.selectFrom("batches").selectAll().where("id", "=", id);
    const { upstream_id: upstreamId } = await rows.executeTakeFirstOrThrow();
    gateway.upstream.fileBatches.end(upstreamId, { errorCode: "token_limit_exceeded" });
    await gateway.database.db.updateTable("batches").set({ polled_at: 0 }).where("id", "=", id).execute();
    const read = await fetch(`${gateway.url}/v1/batches/${id}`, { headers: { authorization: `Bearer ${key}` } });
    expect(await read.json()).toMatchObject({ status: "failed", errors: { data: [{ code: "token_limit_exceeded" }] } });
    expect(await readCode(await create())).toEqual([429, "batch_queue_full"]);
    const later = { ended_at: Math.floor(Date.now() / 1000) - 601 };
    await gateway.database.db.updateTable("batches").set(later).where("id", "=", id).execute();
    expect((await create()).status).toBe(200);
  });
});
