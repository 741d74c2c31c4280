import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { readLedger } from "./batch-kit.ts";

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly input_file_id: string;
  readonly output_file_id: string | null;
  readonly request_counts: Readonly<Record<string, number>>;
  readonly errors: unknown;
}

let gateway: RelayApp;
let key: string;

beforeAll(async () => {
  gateway = await startRelayApp();
  key = await gateway.token();
  const { url } = gateway.upstream;
  await gateway.channel("mistral-large-latest", { type: 42, key: "m-test" });
  await gateway.channel("openai/gpt-oss-20b", { type: 1001, base_url: `${url}/openai` });
  await gateway.channel("moonshotai/Kimi-K2-Instruct", { type: 1002, key: "t-test" });
  await gateway.channel("azure-new", { type: 3, key: "a-test", other: "v1" });
  await gateway.channel("azure-dated", { type: 3, key: "a-test", other: "2024-10-21" });
}, 60_000);
afterAll(() => gateway.close());
beforeEach(() => gateway.upstream.reset());

function buildLine(id: string, model: string, url: string): string {
  const body = { model, max_completion_tokens: 100, messages: [{ role: "user", content: "x" }] };
  return JSON.stringify({ custom_id: id, method: "POST", url, body });
}

async function create(model: string, endpoint = "/v1/chat/completions", window = "24h"): Promise<Response> {
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob([`${buildLine("a", model, endpoint)}\n${buildLine("b", model, endpoint)}\n`]), "in.jsonl");
  const headers = { authorization: `Bearer ${key}` };
  const file = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
  const { id } = (await file.json()) as { id: string };
  const body = { input_file_id: id, endpoint, completion_window: window, metadata: { job: "x" } };
  return gateway.post("/v1/batches", body, key);
}

async function read(id: string): Promise<Batch> {
  await gateway.database.db.updateTable("batches").set({ polled_at: 0 }).where("id", "=", id).execute();
  return (await (
    await fetch(`${gateway.url}/v1/batches/${id}`, { headers: { authorization: `Bearer ${key}` } })
  ).json()) as Batch;
}

const readRow = (id: string) =>
  gateway.database.db.selectFrom("batches").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

const creation = () =>
  gateway.upstream.requests.find(({ method, path }) => method === "POST" && /\/(batches|batch\/jobs)$/.test(path));

function answerLine(id: string): string {
  const body = {
    id: `c-${id}`,
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
  };
  return `${JSON.stringify({ id, custom_id: id, response: { status_code: 200, body }, error: null })}\n`;
}

describe("batches of Mistral", () => {
  const job = (status: string, more: object = {}) => ({
    id: "job-1",
    object: "batch",
    input_files: ["file-UP1"],
    endpoint: "/v1/chat/completions",
    model: "mistral-large-latest",
    errors: [],
    status,
    created_at: 1_790_000_100,
    total_requests: 0,
    completed_requests: 0,
    succeeded_requests: 0,
    failed_requests: 0,
    ...more,
  });

  it("are jobs with members of their own, and look like OpenAI's to the client until they are charged", async () => {
    let now: object = job("QUEUED");
    gateway.upstream.script("/v1/batch/jobs", () => ({ body: now as Record<string, unknown> }));
    gateway.upstream.script("/v1/batch/jobs/job-1", () => ({ body: now as Record<string, unknown> }));
    const batch = (await (await create("mistral-large-latest", undefined, "48h")).json()) as Batch;
    expect(batch).toMatchObject({
      object: "batch",
      status: "validating",
      created_at: 1_790_000_100,
      request_counts: { total: 0, completed: 0, failed: 0 },
    });
    expect(batch.input_file_id).toMatch(/^file-[0-9A-Za-z]{34}$/);
    const [input] = [...gateway.upstream.files.stored.keys()];
    expect(creation()?.json).toEqual({
      input_files: [input],
      endpoint: "/v1/chat/completions",
      model: "mistral-large-latest",
      timeout_hours: 48,
      metadata: { job: "x", fairway_batch: batch.id },
    });
    const seen = [];
    for (const status of ["RUNNING", "CANCELLATION_REQUESTED"]) {
      now = job(status);
      seen.push((await read(batch.id)).status);
    }
    expect(seen).toEqual(["in_progress", "cancelling"]);
    const bytes = Buffer.from(answerLine("a") + answerLine("b"));
    const output = gateway.upstream.files.add({ name: "out.jsonl", purpose: "batch", bytes });
    const counts = { total_requests: 2, completed_requests: 2, succeeded_requests: 2 };
    now = job("SUCCESS", { output_file: output.id, completed_at: 1_790_000_200, ...counts });
    const ended = await read(batch.id);
    expect(ended).toMatchObject({ status: "completed", request_counts: { total: 2, completed: 2, failed: 0 } });
    expect(ended.output_file_id).toMatch(/^file-[0-9A-Za-z]{34}$/);
    await expect.poll(async () => (await readRow(batch.id)).phase, { timeout: 20_000 }).toBe("settled");
    const row = await readRow(batch.id);
    const ledger = await readLedger(gateway, row.request_id);
    expect(ledger.map(({ kind }) => kind)).toEqual(["deposit", "return", "consume"]);
    expect(row).toMatchObject({ succeeded: 2, ended_at: 1_790_000_200 });
    expect(row.charged).toBeGreaterThan(0);
    expect(await checkLedgerSums(gateway.database.raw)).toEqual([]);
  });

  it.each([
    ["FAILED", "failed", { errors: [{ message: "bad file", count: 2 }] }],
    ["TIMEOUT_EXCEEDED", "expired", {}],
    ["CANCELLED", "cancelled", {}],
  ])("that end as %s are %s", async (state, status, more) => {
    let now: object = job("QUEUED");
    gateway.upstream.script("/v1/batch/jobs", () => ({ body: now as Record<string, unknown> }));
    gateway.upstream.script("/v1/batch/jobs/job-1", () => ({ body: now as Record<string, unknown> }));
    gateway.upstream.script("/v1/batch/jobs/job-1/cancel", () => ({ body: now as Record<string, unknown> }));
    const { id } = (await (await create("mistral-large-latest")).json()) as Batch;
    now = job(state, more);
    const headers = { authorization: `Bearer ${key}` };
    const cancelled = await fetch(`${gateway.url}/v1/batches/${id}/cancel`, { method: "POST", headers });
    expect(await cancelled.json()).toMatchObject({ id, status });
    const batch = await read(id);
    expect(batch.status).toBe(status);
    if (state === "FAILED") expect(batch.errors).toMatchObject({ data: [{ message: "bad file" }] });
  });
});

describe("batches of Together", () => {
  const MODEL = "moonshotai/Kimi-K2-Instruct";
  const job = (status: string, more: object = {}) => ({
    id: "job-t",
    status,
    endpoint: "/v1/chat/completions",
    input_file_id: [...gateway.upstream.files.stored.keys()][0] ?? "",
    model_id: MODEL,
    progress: 0,
    created_at: "2026-11-01T10:00:00Z",
    job_deadline: "2026-11-02T10:00:00Z",
    ...more,
  });
  const serve = (now: () => object) => {
    gateway.upstream.script("/v1/batches", ({ method }) => ({
      body: method === "POST" ? { job: now(), warning: "" } : ([now()] as never),
    }));
    gateway.upstream.script("/v1/batches/job-t", () => ({ body: now() as Record<string, unknown> }));
  };

  it("are uploaded in its own form, wait for the files of their results, and are charged", async () => {
    let [status, more]: [string, object] = ["VALIDATING", {}];
    serve(() => job(status, more));
    const batch = (await (await create(MODEL)).json()) as Batch;
    expect(batch).toMatchObject({ object: "batch", status: "validating" });
    const upload = gateway.upstream.requests.find(({ path }) => path === "/v1/files/upload");
    const form = upload?.body.toString() ?? "";
    expect(form).toContain('name="purpose"\r\n\r\nbatch-api');
    expect(form).toContain('name="file_name"\r\n\r\nin.jsonl');
    expect(form).toContain(buildLine("a", MODEL, "/v1/chat/completions"));
    const [input] = [...gateway.upstream.files.stored.keys()];
    expect(creation()?.json).toEqual({
      input_file_id: input,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      model_id: MODEL,
    });
    // Completed without its files: nothing may be booked yet.
    status = "COMPLETED";
    expect((await read(batch.id)).status).toBe("finalizing");
    const bytes = Buffer.from(answerLine("a") + answerLine("b"));
    const output = gateway.upstream.files.add({ name: "out.jsonl", purpose: "batch", bytes });
    more = { output_file_id: output.id, completed_at: "2026-11-01T11:00:00Z" };
    expect(await read(batch.id)).toMatchObject({ status: "completed", completed_at: 1_793_530_800 });
    await expect.poll(async () => (await readRow(batch.id)).phase, { timeout: 20_000 }).toBe("settled");
    const row = await readRow(batch.id);
    expect(row.charged).toBeGreaterThan(0);
    expect((await readLedger(gateway, row.request_id)).map(({ kind }) => kind)).toEqual([
      "deposit",
      "return",
      "consume",
    ]);
  });

  it.each([
    ["FAILED", "failed"],
    ["EXPIRED", "expired"],
    ["CANCELLED", "cancelled"],
  ])("that end as %s are %s", async (state, status) => {
    let now = "IN_PROGRESS";
    serve(() => job(now, now === "FAILED" ? { error: "bad file" } : {}));
    const { id } = (await (await create(MODEL)).json()) as Batch;
    now = state;
    const batch = await read(id);
    expect(batch.status).toBe(status);
    if (state === "FAILED") expect(batch.errors).toMatchObject({ data: [{ message: "bad file" }] });
  });

  it("are the only files that its channel stores", async () => {
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new Blob(["x"]), "a.pdf");
    const headers = { authorization: `Bearer ${key}`, "x-fairway-model": MODEL };
    expect((await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form })).status).toBe(400);
  });
});

it.each([
  ["Groq", "openai/gpt-oss-20b", "/openai/v1/batches", "7d"],
  ["Azure", "azure-new", "/openai/v1/batches", "24h"],
])("%s takes batches at its own path and follows them there", async (_name, model, path, window) => {
  const endpoint = "/v1/chat/completions";
  const response = await create(model, endpoint, window);
  expect(response.status).toBe(200);
  const { id } = (await response.json()) as Batch;
  expect(creation()?.path).toBe(path);
  expect(creation()?.json).toMatchObject({ endpoint, completion_window: window, metadata: { fairway_batch: id } });
  const [upstreamId = ""] = [...gateway.upstream.fileBatches.batches.keys()];
  gateway.upstream.fileBatches.end(upstreamId);
  expect(await read(id)).toMatchObject({ status: "completed", request_counts: { completed: 2 } });
  expect(gateway.upstream.requests.at(-1)?.path).toBe(`${path}/${upstreamId}`);
});

it("dated versions of Azure have no version in the paths of batches and requests", async () => {
  const body = { id: "batch_A", object: "batch", status: "validating", created_at: 1_790_000_000 };
  gateway.upstream.script("/openai/batches", () => ({ body }));
  gateway.upstream.script("/openai/batches/batch_A", () => ({ body: { ...body, status: "in_progress" } }));
  expect((await create("azure-dated")).status).toBe(400);
  const { id } = (await (await create("azure-dated", "/chat/completions")).json()) as Batch;
  const sent = creation();
  expect([sent?.path, sent?.query.get("api-version")]).toEqual(["/openai/batches", "2024-10-21"]);
  expect(sent?.headers["api-key"]).toBe("a-test");
  expect((await read(id)).status).toBe("in_progress");
  const asked = gateway.upstream.requests.at(-1);
  expect([asked?.path, asked?.query.get("api-version")]).toEqual(["/openai/batches/batch_A", "2024-10-21"]);
});

it("windows that a vendor does not have are refused", async () => {
  expect((await create("azure-new", undefined, "48h")).status).toBe(400);
  expect((await create("openai/gpt-oss-20b", undefined, "8d")).status).toBe(400);
});
