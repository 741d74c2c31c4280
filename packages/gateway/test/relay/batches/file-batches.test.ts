import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { consumeRows, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { readLedger } from "./batch-kit.ts";

const MODEL = "gpt-5.6";
/** 100 input and 50 output tokens at 2 and 10 dollars for a million. */
const CHARGE = 350;
const ENDPOINT = "/v1/chat/completions";

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly input_file_id: string;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly metadata: unknown;
  readonly errors?: {
    readonly data: readonly { readonly code: string; readonly line: number; readonly param: string }[];
  };
}

let gateway: RelayApp;
let key: string;

beforeAll(async () => {
  gateway = await startRelayApp();
  await gateway.channel(`${MODEL},alias`, { type: 1, model_mapping: JSON.stringify({ alias: MODEL }) });
  key = await gateway.token();
  await gateway.option("BatchMaxOpenPerUser", 0);
}, 60_000);
afterAll(() => gateway.close());
beforeEach(() => gateway.upstream.reset());
afterEach(async () => {
  expect(await checkLedgerSums(gateway.database.raw)).toEqual([]);
  expect(await checkCounters(gateway.database.raw)).toEqual([]);
});

function line(id: string, more: object = {}, body: object = {}): string {
  const messages = [{ role: "user", content: "x" }];
  const request = { model: MODEL, max_completion_tokens: 100, messages, ...body };
  return JSON.stringify({ custom_id: id, method: "POST", url: ENDPOINT, body: request, ...more });
}

function sendFile(text: string, of = key): Promise<Response> {
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob([text]), "in.jsonl");
  const headers = { authorization: `Bearer ${of}` };
  return fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
}

async function upload(text: string, of = key): Promise<string> {
  const response = await sendFile(text, of);
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

const create = (file: string, more: object = {}, of = key) =>
  gateway.post("/v1/batches", { input_file_id: file, endpoint: ENDPOINT, completion_window: "24h", ...more }, of);

const call = (path: string, method = "GET", of = key) =>
  fetch(gateway.url + path, { method, headers: { authorization: `Bearer ${of}` } });

async function open(ids: readonly string[]): Promise<{ readonly batch: Batch; readonly upstreamId: string }> {
  const response = await create(await upload(ids.map((id) => `${line(id)}\n`).join("")), { metadata: { job: "x" } });
  expect(response.status).toBe(200);
  const batch = (await response.json()) as Batch;
  return { batch, upstreamId: (await readRow(batch.id)).row.upstream_id };
}

async function readRow(id: string) {
  const rows = gateway.database.db.selectFrom("batches").selectAll().where("id", "=", id);
  const row = await rows.executeTakeFirstOrThrow();
  const ledger = (await readLedger(gateway, row.request_id)).map(({ kind, quota }) => [kind, quota]);
  return { row, ledger, logs: await consumeRows(gateway, row.request_id) };
}

async function read(id: string): Promise<Batch> {
  await gateway.database.db.updateTable("batches").set({ polled_at: 0 }).where("id", "=", id).execute();
  return (await (await call(`/v1/batches/${id}`)).json()) as Batch;
}

const settled = (id: string) =>
  expect.poll(async () => (await readRow(id)).row.phase, { timeout: 20_000, interval: 100 }).toBe("settled");

describe("a batch of a file", () => {
  it("is created at the file's upstream, followed, and its files are the user's", async () => {
    const { batch, upstreamId } = await open(["a", "b", "c"]);
    expect(batch).toMatchObject({ object: "batch", status: "in_progress", metadata: { job: "x" } });
    expect(batch.id).toMatch(/^batch_[0-9A-Za-z]{34}$/);
    const sent = gateway.upstream.fileBatches.batches.get(upstreamId)?.asked;
    expect(sent).toMatchObject({ metadata: { job: "x", fairway_batch: batch.id } });
    expect(sent?.["input_file_id"]).not.toBe(batch.input_file_id);
    gateway.upstream.fileBatches.end(upstreamId, { failed: ["c"] });
    const ended = await read(batch.id);
    expect(ended).toMatchObject({ status: "completed", input_file_id: batch.input_file_id, metadata: { job: "x" } });
    const output = await (await call(`/v1/files/${ended.output_file_id}/content`)).text();
    expect(output.trim().split("\n")).toHaveLength(2);
    expect((await call(`/v1/files/${ended.error_file_id}/content`)).status).toBe(200);
    await settled(batch.id);
    const { row, ledger, logs } = await readRow(batch.id);
    expect(ledger).toEqual([
      ["deposit", -row.deposit],
      ["return", row.deposit],
      ["consume", -2 * CHARGE],
    ]);
    expect(logs[0]?.other["batch"]).toMatchObject({ items: 3, succeeded: 2, failed: 1, saved: 2 * CHARGE });
    expect((await call(`/v1/batches/${batch.id}/cancel`, "POST")).status).toBe(409);
  });

  it("waits for an output file that comes late", async () => {
    const { batch, upstreamId } = await open(["a"]);
    gateway.upstream.fileBatches.end(upstreamId, { isLate: true });
    expect((await read(batch.id)).output_file_id).toBeNull();
    await expect.poll(async () => (await readRow(batch.id)).row.error, { timeout: 15_000 }).toBe("results_unreadable");
    gateway.upstream.fileBatches.addOutput(upstreamId);
    expect((await read(batch.id)).output_file_id).toMatch(/^file-/);
    await gateway.database.db.updateTable("batches").set({ next_poll_at: 0 }).where("id", "=", batch.id).execute();
    await settled(batch.id);
    expect((await readRow(batch.id)).row.charged).toBe(CHARGE);
  });

  it("is paid for although its client has deleted the results before they were booked", async () => {
    const { batch, upstreamId } = await open(["a", "b"]);
    expect((await call(`/v1/files/${batch.input_file_id}`, "DELETE")).status).toBe(200);
    gateway.upstream.fileBatches.end(upstreamId, { failed: ["b"] });
    const ended = await read(batch.id);
    const results = [ended.output_file_id ?? "", ended.error_file_id ?? ""];
    for (const id of results) expect((await call(`/v1/files/${id}`, "DELETE")).status).toBe(200);
    for (const id of results) expect((await call(`/v1/files/${id}/content`)).status).toBe(404);
    await settled(batch.id);
    expect((await readRow(batch.id)).row.charged).toBe(CHARGE);
    const states = gateway.database.db.selectFrom("upstream_objects").select("state").where("id", "in", results);
    expect(await states.execute()).toEqual([{ state: "deleting" }, { state: "deleting" }]);
  });

  it("that expired, was cancelled or failed pays for what has finished", async () => {
    const expired = await open(["a", "b"]);
    const failed = await open(["a"]);
    const cancelled = await open(["a"]);
    expect(await (await call(`/v1/batches/${cancelled.batch.id}/cancel`, "POST")).json()).toMatchObject({
      status: "cancelling",
    });
    gateway.upstream.fileBatches.end(expired.upstreamId, { status: "expired", unfinished: ["b"] });
    gateway.upstream.fileBatches.end(failed.upstreamId, { failed: ["a"] });
    gateway.upstream.fileBatches.end(cancelled.upstreamId, { status: "cancelled", unfinished: ["a"] });
    const charged = [];
    for (const { batch } of [expired, failed, cancelled]) {
      await read(batch.id);
      await settled(batch.id);
      charged.push((await readRow(batch.id)).row.charged);
    }
    expect(charged).toEqual([CHARGE, 0, 0]);
  });

  it("is listed in pages, and unknown to other users like its files", async () => {
    const { batch } = await open(["a"]);
    const list = (await (await call("/v1/batches?limit=1")).json()) as { data: Batch[]; has_more: boolean };
    expect(list).toMatchObject({ object: "list", data: [{ id: batch.id }], first_id: batch.id, has_more: true });
    expect((await call("/v1/batches?limit=101")).status).toBe(400);
    expect((await call("/v1/batches/batch_unknown")).status).toBe(404);
  });
});

describe("a file whose model the channel maps", () => {
  const text = [line("a", {}, { model: "alias" }), line("b", { more: '"model":"alias"' }, { model: "alias" }), ""].join(
    "\r\n",
  );

  it("has the upstream's name in its lines and no other change, and is charged by the client's name", async () => {
    const batch = (await (await create(await upload(text))).json()) as Batch;
    expect(batch).toMatchObject({ status: "in_progress" });
    const stored = [...gateway.upstream.files.stored.values()][0]?.bytes.toString();
    expect(stored).toBe(text.replaceAll('"body":{"model":"alias"', `"body":{"model":"${MODEL}"`));
    const { row } = await readRow(batch.id);
    expect(JSON.parse(row.models)).toMatchObject({ alias: { upstream: MODEL, items: 2 } });
    gateway.upstream.fileBatches.end(row.upstream_id);
    await read(batch.id);
    await settled(batch.id);
    expect((await readRow(batch.id)).logs).toMatchObject([{ model_name: "alias" }]);
  });

  it("stays as it is if it names two models, and cannot become a batch", async () => {
    const mixed = `${text}${line("c")}\n`;
    const batch = (await (await create(await upload(mixed))).json()) as Batch;
    expect([...gateway.upstream.files.stored.values()][0]?.bytes.toString()).toBe(mixed);
    expect(batch.errors?.data.map(({ code, line: at }) => [code, at])).toEqual([["model_mismatch", 3]]);
  });

  it("is for keys that may use the client's name", async () => {
    const limited = await gateway.token({ model_limits_enabled: true, model_limits: MODEL });
    const batch = (await (await create(await upload(text, limited), {}, limited)).json()) as Batch;
    expect([batch.status, batch.errors?.data[0]?.code]).toEqual(["failed", "model_not_found"]);
  });
});

describe("the lines of a file", () => {
  it("are reported with OpenAI's codes in a batch that has failed, and no money is moved", async () => {
    const lines = [
      line("a"),
      '{"custom_id":',
      line("a"),
      line("d", {}, { model: "other-model" }),
      line("e", {}, { stream: true }),
      line("f", { url: "/v1/embeddings" }),
      line("g", { method: "GET" }),
      JSON.stringify({ custom_id: "h", method: "POST", url: ENDPOINT }),
    ];
    const response = await create(await upload(`${lines.join("\r\n")}\r\n\r\n`));
    expect(response.status).toBe(200);
    const batch = (await response.json()) as Batch;
    expect(batch.status).toBe("failed");
    expect(batch.errors?.data.map(({ code, line: at }) => [code, at])).toEqual([
      ["invalid_json_line", 2],
      ["duplicate_custom_id", 3],
      ["model_mismatch", 4],
      ["unsupported_parameter", 5],
      ["url_mismatch", 6],
      ["invalid_method", 7],
      ["missing_required_parameter", 8],
    ]);
    expect(await read(batch.id)).toEqual(batch);
    const { row, ledger } = await readRow(batch.id);
    expect([row.phase, ledger]).toEqual(["refused", []]);
    expect(gateway.upstream.fileBatches.batches.size).toBe(0);
  });

  it("are read to the last one: a fault in line 40,000 refuses the batch, and a line of 17 MiB all of it", async () => {
    const lines = Array.from({ length: 40_000 }, (_none, at) => line(`item-${at}`));
    lines[39_999] = '{"custom_id":';
    const batch = (await (await create(await upload(lines.join("\n")))).json()) as Batch;
    expect(batch.errors?.data.map(({ code, line: at }) => [code, at])).toEqual([["invalid_json_line", 40_000]]);
    const long = `${line("a")}\n${line("b", {}, { user: "x".repeat(17 * 1024 * 1024) })}\n`;
    const refused = await sendFile(long);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("Line 2 exceeds")]);
    expect(gateway.upstream.fileBatches.batches.size).toBe(0);
    expect((await readRow(batch.id)).ledger).toEqual([]);
  }, 60_000);

  it("may not name files of others", async () => {
    const content = [{ type: "file", file: { file_id: "file-of-another" } }];
    const named = line("a", {}, { messages: [{ role: "user", content }] });
    const batch = (await (await create(await upload(named))).json()) as Batch;
    expect([batch.status, batch.errors?.data[0]?.code]).toEqual(["failed", "unsupported_parameter"]);
    expect(gateway.upstream.fileBatches.batches.size).toBe(0);
  });

  it.each([
    ["nothing", "", "empty_file"],
    ["a byte order mark", `\ufeff${line("a")}`, "invalid_json_line"],
    ["a model that does not exist", line("a", {}, { model: "nothing-like-it" }), "model_not_found"],
  ])("are refused with %s", async (_name, text, code) => {
    const batch = (await (await create(await upload(text || "\n"))).json()) as Batch;
    expect([batch.status, batch.errors?.data[0]?.code]).toEqual(["failed", code]);
  });
});

describe("the request", () => {
  it("is refused for unknown files, endpoints, windows and metadata", async () => {
    const file = await upload(line("a"));
    const statuses = [];
    for (const more of [
      { input_file_id: "file-unknown" },
      { endpoint: "/v1/videos" },
      { completion_window: "1h" },
      { metadata: { a: 1 } },
    ])
      statuses.push((await create(file, more)).status);
    expect(statuses).toEqual([404, 400, 400, 400]);
    const others = [];
    for (const headers of [{ "x-goog-api-key": key }, { "x-api-key": key, "anthropic-version": "2023-06-01" }])
      others.push((await fetch(`${gateway.url}/v1/batches`, { headers })).status);
    expect(others).toEqual([200, 501]);
  });
});
