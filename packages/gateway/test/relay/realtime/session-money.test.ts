import { freshRedis } from "@fairway/testkit/databases";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consumeRows, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { createTenant } from "../../kit/tenants.ts";
import { openVoice, startVoiceUpstream, type VoiceEvent, type VoiceUpstream } from "../../kit/voice-upstream.ts";

interface Vector {
  readonly what: string;
  readonly steps: readonly {
    readonly upstream?: VoiceEvent | string;
    readonly client?: "closes";
    readonly expect?: VoiceEvent;
  }[];
  readonly charge: number | { readonly from: number; readonly to: number };
}

const FOLDER = join(import.meta.dirname, "vectors");
const VECTORS = globSync("*.json", { cwd: FOLDER }).map(
  (name) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Vector,
);
const RICH = 100_000_000;
const WORDS = "harbour lights over the quiet water ".repeat(700);
const DONE = { input_tokens: 40_000, output_tokens: 100 };

describe.each(["SQL", "Redis"])("the money of realtime sessions (%s ledger)", (ledger) => {
  let gateway: RelayApp;
  let voice: VoiceUpstream;
  let serial = 0;

  beforeAll(async () => {
    voice = await startVoiceUpstream();
    const redis = ledger === "Redis" ? { FAIRWAY_REDIS_URL: (await freshRedis()).url } : {};
    gateway = await startRelayApp({ FAIRWAY_INSTANCE_ID: "one", ...redis });
    const ratios = { ModelRatio: 2, CompletionRatio: 4, CacheRatio: 0.1, AudioRatio: 8, AudioCompletionRatio: 2 };
    for (const [name, value] of Object.entries(ratios))
      await gateway.option(name, JSON.stringify({ "rt-voice": value, "rt-words": value }));
    await gateway.channel("rt-voice", { base_url: voice.url });
    await gateway.option("RealtimeLingerMs", 700);
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    voice.close();
  });

  /** Opens a session of a new user; has both its ends, and its final charge. */
  async function session(quota = RICH) {
    const name = `tenant${++serial}`;
    const key = await createTenant(gateway, quota);
    voice.onEvent = () => undefined;
    const client = await openVoice(gateway.url, "rt-voice", key);
    await client.until("session.created");
    const upstream = voice.sessions.at(-1);
    if (!upstream) throw new Error("no session arrived");
    return {
      name,
      client,
      upstream,
      async row() {
        client.socket.close();
        await client.closed;
        await gateway.settled();
        const rows = await consumeRows(gateway);
        const row = rows.findLast(({ model_name }) => model_name === "rt-voice");
        if (!row) throw new Error("no row was written");
        return row;
      },
    };
  }

  async function balances(): Promise<number[]> {
    await gateway.settled();
    const rows = await gateway.database.raw.rows<{ quota: number }>("select quota from users where role = 1", []);
    return rows.map(({ quota }) => quota);
  }

  // @weakness Money: A realtime client writes an event type into metadata, and its answer is free
  // @weakness Money: Leaving a realtime session during an answer makes the answer free
  it.each(VECTORS)("$what", async ({ steps, charge }) => {
    const { client, upstream, row } = await session();
    for (const step of steps) {
      if (step.upstream !== undefined) upstream.send(step.upstream);
      if (step.client) {
        await client.until("response.function_call_arguments.delta");
        client.socket.close();
      }
      if (step.expect) expect(await upstream.heard(step.expect.type)).toMatchObject(step.expect);
    }
    if (!steps.some((step) => step.client)) await client.until("response.done");
    const { quota } = await row();
    const { from, to } = typeof charge === "number" ? { from: charge, to: charge } : charge;
    expect(quota).toBeGreaterThanOrEqual(from);
    expect(quota).toBeLessThanOrEqual(to);
  });

  it("counts arguments and transcripts of an answer that never ends", async () => {
    const { client, upstream, row } = await session();
    upstream.send({ type: "response.created", response: { id: "r1" } });
    for (let piece = 0; piece < 10; piece++)
      upstream.send({
        type: "response.function_call_arguments.delta",
        response_id: "r1",
        delta: WORDS.slice(0, 2_000),
      });
    await client.until("response.function_call_arguments.delta", 10);
    const { completion_tokens, quota, other } = await row();
    expect(completion_tokens).toBeGreaterThan(3_000);
    expect(quota).toBeGreaterThan(3_000 * 8);
    expect(other["realtime"]).toMatchObject({ responses: 1, estimated: 1 });
  });

  it("counts the deltas of a transcription that is never completed", async () => {
    const { client, upstream, row } = await session();
    upstream.send({ type: "session.updated", session: { input_audio_transcription: { model: "rt-words" } } });
    upstream.send({ type: "input_audio_buffer.committed", item_id: "i1" });
    const type = "conversation.item.input_audio_transcription.delta";
    upstream.send({ type, item_id: "i1", delta: WORDS.slice(0, 4_000) });
    await client.until(type);
    const { completion_tokens } = await row();
    expect(completion_tokens).toBeGreaterThan(500);
  });

  // @weakness Money: Parallel realtime sessions spend a balance many times over, because nothing is reserved for an answer
  it("twelve sessions with one balance never take more than it", async () => {
    const key = await createTenant(gateway, 60_000);
    voice.onEvent = (event, upstream) => {
      if (event.type !== "response.create") return;
      upstream.send({ type: "response.created", response: { id: "r1" } });
      upstream.send({ type: "response.done", response: { id: "r1", usage: DONE } });
    };
    const clients = await Promise.all(
      Array.from({ length: 12 }, () => openVoice(gateway.url, "rt-voice", key).catch(() => undefined)),
    );
    const open = clients.filter((client) => client !== undefined);
    expect(open.length).toBeGreaterThan(1);
    for (const client of open) client.send({ type: "response.create" });
    await Promise.all(open.map((client) => client.until("response.done")));
    for (const client of open) client.socket.close();
    await Promise.all(open.map(({ closed }) => closed));
    for (const quota of await balances()) expect(quota).toBeGreaterThanOrEqual(0);
  });

  it("a long input is refused before it is sent, where the balance does not carry its answer", async () => {
    const { client, upstream } = await session(20_000);
    const item = { type: "message", role: "user", content: [{ type: "input_text", text: WORDS.repeat(4) }] };
    client.send({ type: "conversation.item.create", item });
    client.send({ type: "response.create" });
    expect(await client.closed).toBe(1008);
    expect(client.heard.at(-1)).toMatchObject({ type: "error", error: { code: "insufficient_quota" } });
    expect(upstream.received.map(({ type }) => type)).not.toContain("response.create");
    for (const quota of await balances()) expect(quota).toBeGreaterThanOrEqual(0);
  });

  it("an answer that passes its reservation is cancelled, and nothing of it is delivered after that", async () => {
    const { client, upstream, row } = await session(60_000);
    upstream.send({ type: "response.created", response: { id: "r1" } });
    for (let piece = 0; piece < 40; piece++)
      upstream.send({ type: "response.output_text.delta", response_id: "r1", delta: WORDS.slice(0, 3_000) });
    expect(await client.closed).toBe(1008);
    expect(await upstream.heard("response.cancel")).toMatchObject({ response_id: "r1" });
    upstream.send({
      type: "response.done",
      response: { id: "r1", usage: { input_tokens: 10, output_tokens: 30_000 } },
    });
    const delivered = client.heard.filter(({ type }) => type === "response.output_text.delta").length;
    expect(delivered).toBeLessThan(40);
    expect((await row()).quota).toBeLessThanOrEqual(60_000);
    for (const quota of await balances()) expect(quota).toBeGreaterThanOrEqual(0);
  });

  it("a hard budget is never passed", async () => {
    const key = await createTenant(gateway);
    const fields = { scope: "model", subject: "rt-voice", period: "day", quota_limit: 60_000 };
    const { id } = await gateway.root.must<{ id: number }>("POST", "/api/budget/", fields);
    voice.onEvent = (event, upstream) => {
      if (event.type !== "response.create") return;
      upstream.send({ type: "response.created", response: { id: "r1" } });
      upstream.send({ type: "response.done", response: { id: "r1", usage: DONE } });
    };
    const clients = await Promise.all(
      Array.from({ length: 12 }, () => openVoice(gateway.url, "rt-voice", key).catch(() => undefined)),
    );
    const open = clients.filter((client) => client !== undefined);
    for (const client of open) client.send({ type: "response.create" });
    await Promise.all(open.map((client) => client.until("response.done")));
    for (const client of open) client.socket.close();
    await Promise.all(open.map(({ closed }) => closed));
    await gateway.settled();
    await expect.poll(() => gateway.root.must("GET", `/api/budget/${id}`)).toMatchObject({ held: 0 });
    const { used } = await gateway.root.must<{ used: number }>("GET", `/api/budget/${id}`);
    expect(used).toBeLessThanOrEqual(60_000);
    await gateway.root.must("DELETE", `/api/budget/${id}`);
  });

  it("refuses another model, and objects that the channel does not list, without sending them", async () => {
    const { client, upstream, row } = await session();
    client.send({ type: "session.update", event_id: "e1", session: { model: "other" } });
    client.send({ type: "response.create", event_id: "e2", response: { prompt: { id: "pmpt_1" } } });
    await client.until("error", 2);
    expect(client.heard.filter(({ type }) => type === "error")).toMatchObject([
      { error: { event_id: "e1", param: "session.model" } },
      { error: { event_id: "e2", code: "object_not_found" } },
    ]);
    client.send({ type: "session.update", session: { instructions: "Be brief." } });
    await upstream.heard("session.update");
    expect(upstream.received).toHaveLength(1);
    client.socket.close();
    await expect(row()).resolves.toMatchObject({ quota: 0 });
  });
});
