// Official clients run batches to their end.
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic, { BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI, JobState } from "@google/genai";
import OpenAI, { ConflictError, toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChannel, createToken, signIn, startGateway, startUpstream } from "../src/index.ts";
import type { GatewayProcess, Session, Upstream } from "../src/index.ts";

const MODEL = "claude-haiku-4-5";
let upstream: Upstream;
let gateway: GatewayProcess;
let root: Session;
let client: Anthropic;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startUpstream(), startGateway()]);
  root = await signIn(gateway.url);
  await createChannel(root, { type: 14, base_url: upstream.url, models: MODEL });
  await createChannel(root, { type: 1, base_url: upstream.url, models: "gpt-5.6" });
  await createChannel(root, { type: 24, base_url: upstream.url, models: "gemini-3.5-flash,gemini-embedding-001" });
  client = new Anthropic({ baseURL: gateway.url, apiKey: await createToken(root), maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const request = (id: string) => ({
  custom_id: id,
  params: { model: MODEL, max_tokens: 100, messages: [{ role: "user" as const, content: id }] },
});

/** Returns the only batch of the upstream. */
function findUpstreamId(): string {
  const [id] = [...upstream.batches.batches.keys()];
  if (id === undefined) throw new Error("the upstream has no batch");
  return id;
}

test("the Anthropic client creates a batch, follows it, reads its results and deletes it", async () => {
  const { quota: before } = await root.must<{ quota: number }>("GET", "/api/user/self");
  const created = await client.messages.batches.create({ requests: ["a", "b", "c"].map(request) });
  expect(created).toMatchObject({ processing_status: "in_progress", results_url: null });
  expect((await root.must<{ quota: number }>("GET", "/api/user/self")).quota).toBeLessThan(before);
  upstream.batches.end(findUpstreamId(), { b: "errored" });

  const ended = await client.messages.batches.retrieve(created.id);
  expect(ended).toMatchObject({ processing_status: "ended", request_counts: { succeeded: 2, errored: 1 } });
  const results = await Array.fromAsync(await client.messages.batches.results(created.id));
  expect(results.map(({ custom_id: id, result }) => [id, result.type])).toEqual([
    ["c", "succeeded"],
    ["b", "errored"],
    ["a", "succeeded"],
  ]);
  const listed = await Array.fromAsync(client.messages.batches.list({ limit: 1 }));
  expect(listed.map(({ id }) => id)).toEqual([created.id]);

  // Two answers of 100 input and 50 output tokens, at 0.5 and 2.5 dollars for a million.
  const charged = 2 * Math.round((100 * 0.5 + 50 * 2.5) * 0.5);
  const readSpent = async () => before - (await root.must<{ quota: number }>("GET", "/api/user/self")).quota;
  await expect.poll(readSpent, { timeout: 30_000, interval: 200 }).toBe(charged);
  for (let read = 0; read < 20; read++) await client.messages.batches.retrieve(created.id);
  expect(await readSpent()).toBe(charged);

  expect(await client.messages.batches.delete(created.id)).toEqual({ id: created.id, type: "message_batch_deleted" });
  await expect(client.messages.batches.retrieve(created.id)).rejects.toBeInstanceOf(NotFoundError);
});

test("the Anthropic client cancels a batch, and gets refusals that name the item", async () => {
  const created = await client.messages.batches.create({ requests: [request("a")] });
  expect(await client.messages.batches.cancel(created.id)).toMatchObject({ processing_status: "canceling" });
  await expect(client.messages.batches.create({ requests: [request("a b")] })).rejects.toBeInstanceOf(BadRequestError);
});

test("the OpenAI client uploads a file, creates a batch, follows it and reads its output", async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await createToken(root), maxRetries: 0 });
  const lines = ["a", "b"].map((id) =>
    JSON.stringify({
      custom_id: id,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "gpt-5.6", max_completion_tokens: 100, messages: [{ role: "user", content: id }] },
    }),
  );
  const file = await openai.files.create({
    file: await toFile(Buffer.from(lines.join("\n")), "in.jsonl"),
    purpose: "batch",
  });
  const created = await openai.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  expect(created).toMatchObject({ object: "batch", status: "in_progress", input_file_id: file.id });
  const [upstreamId = ""] = [...upstream.fileBatches.batches.keys()];
  upstream.fileBatches.end(upstreamId);

  const ended = await openai.batches.retrieve(created.id);
  expect(ended).toMatchObject({ status: "completed", request_counts: { total: 2, completed: 2, failed: 0 } });
  const output = await (await openai.files.content(ended.output_file_id ?? "")).text();
  const ids = output
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
  expect(ids).toEqual(["a", "b"]);
  const listed = await Array.fromAsync(openai.batches.list({ limit: 1 }));
  expect(listed.map(({ id }) => id)).toEqual([created.id]);
  await expect(openai.batches.cancel(created.id)).rejects.toBeInstanceOf(ConflictError);
});

async function createGoogle(): Promise<GoogleGenAI> {
  return new GoogleGenAI({ apiKey: await createToken(root), httpOptions: { baseUrl: gateway.url } });
}

/** Returns the batch that the upstream was given last. */
function findLastOfGoogle(): string {
  const id = [...upstream.geminiBatches.batches.keys()].at(-1);
  if (id === undefined) throw new Error("the upstream has no batch of Google");
  return id;
}

test("the Google client creates a batch of its requests, follows it, reads its answers, and deletes it", async () => {
  const { batches } = await createGoogle();
  const created = await batches.create({
    model: "gemini-3.5-flash",
    src: ["a", "b"].map((key) => ({
      contents: [{ role: "user", parts: [{ text: key }] }],
      metadata: { key },
      config: { maxOutputTokens: 100 },
    })),
    config: { displayName: "nightly" },
  });
  expect(created).toMatchObject({ displayName: "nightly", state: JobState.JOB_STATE_PENDING });
  upstream.geminiBatches.end(findLastOfGoogle(), { failed: ["b"] });

  const name = created.name ?? "";
  await expect
    .poll(async () => (await batches.get({ name })).state, { timeout: 30_000, interval: 500 })
    .toBe(JobState.JOB_STATE_SUCCEEDED);
  const { dest } = await batches.get({ name });
  const answers = dest?.inlinedResponses?.map(
    ({ response, error }) => response?.candidates?.[0]?.content?.parts?.[0]?.text ?? error?.message,
  );
  expect(answers).toEqual(["The answer to a.", "bad"]);
  const listed = await Array.fromAsync(await batches.list({ config: { pageSize: 1 } }));
  expect(listed.map((one) => one.name)).toEqual([name]);
  // 100 input and 50 output tokens at 0.75 and 4.5 dollars for a million.
  const readCharges = async () => {
    const path = "/api/log/?type=2&model_name=gemini-3.5-flash";
    const { items } = await root.must<{ items: readonly { quota: number }[] }>("GET", path);
    return items.map(({ quota }) => quota);
  };
  await expect.poll(readCharges, { timeout: 30_000, interval: 200 }).toEqual([150]);
  await batches.delete({ name });
  await expect(batches.get({ name })).rejects.toMatchObject({ status: 404 });
}, 60_000);

test("the Google client creates a batch of an uploaded file, downloads the results, and cancels another", async () => {
  const { batches, files } = await createGoogle();
  const lines = ["a", "b"].map((key) =>
    JSON.stringify({
      key,
      request: { contents: [{ parts: [{ text: key }] }], generationConfig: { maxOutputTokens: 100 } },
    }),
  );
  const file = await files.upload({
    file: new Blob([lines.join("\n")]),
    config: { mimeType: "application/jsonl", displayName: "requests" },
  });
  const created = await batches.create({ model: "gemini-3.5-flash", src: file.name ?? "" });
  upstream.geminiBatches.end(findLastOfGoogle());
  const name = created.name ?? "";
  await expect
    .poll(async () => (await batches.get({ name })).state, { timeout: 30_000, interval: 500 })
    .toBe(JobState.JOB_STATE_SUCCEEDED);
  const results = (await batches.get({ name })).dest?.fileName ?? "";
  const downloadPath = join(mkdtempSync(join(tmpdir(), "fairway-batch-")), "results.jsonl");
  await files.download({ file: results, downloadPath });
  await expect.poll(() => existsSync(downloadPath) && readFileSync(downloadPath, "utf8").split("\n").length).toBe(3);
  const keys = readFileSync(downloadPath, "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { key: string }).key);
  expect(keys).toEqual(["a", "b"]);

  const embedded = await batches.createEmbeddings({
    model: "gemini-embedding-001",
    src: { inlinedRequests: { contents: ["one", "two"] } },
  });
  await batches.cancel({ name: embedded.name ?? "" });
  const refused = batches.create({ model: "unknown", src: file.name ?? "" });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
}, 60_000);
