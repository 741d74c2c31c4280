import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { consumeRows, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { readLedger } from "./batch-kit.ts";

const MODEL = "gemini-3.5-flash";
const EMBEDDING = "gemini-embedding-001";
/** 100 input and 50 output tokens at 0.75 and 4.5 dollars for a million. */
const CHARGE = 150;

interface Operation {
  readonly name: string;
  readonly done?: boolean;
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly output?: { readonly responsesFile?: string; readonly inlinedResponses?: unknown };
  };
  readonly response?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

let gateway: RelayApp;
let key: string;

beforeAll(async () => {
  gateway = await startRelayApp();
  await gateway.channel(`${MODEL},${EMBEDDING},alias`, {
    type: 24,
    key: "g-test",
    model_mapping: JSON.stringify({ alias: MODEL }),
  });
  key = await gateway.token();
  await gateway.option("BatchMaxOpenPerUser", 0);
}, 60_000);
afterAll(() => gateway.close());
beforeEach(() => gateway.upstream.reset());
afterEach(async () => {
  expect(await checkLedgerSums(gateway.database.raw)).toEqual([]);
  expect(await checkCounters(gateway.database.raw)).toEqual([]);
});

const request = (text: string, more: object = {}) => ({
  contents: [{ role: "user", parts: [{ text }] }],
  generationConfig: { maxOutputTokens: 100 },
  ...more,
});
const item = (id: string, more: object = {}) => ({ request: request(id, more), metadata: { key: id } });
const inline = (items: readonly unknown[]) => ({
  batch: { displayName: "job", inputConfig: { requests: { requests: items } } },
});

const call = (
  path: string,
  { method = "GET", body, of = key }: { method?: string; body?: unknown; of?: string } = {},
) =>
  fetch(gateway.url + path, {
    method,
    headers: { "x-goog-api-key": of, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

const create = (body: unknown, model = MODEL, of = key) =>
  call(`/v1beta/models/${model}:batchGenerateContent`, { method: "POST", body, of });

async function upload(text: string): Promise<string> {
  const start = await fetch(`${gateway.url}/upload/v1beta/files`, {
    method: "POST",
    headers: {
      "x-goog-api-key": key,
      "content-type": "application/json",
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": String(Buffer.byteLength(text)),
      "x-goog-upload-header-content-type": "application/jsonl",
    },
    body: JSON.stringify({ file: { displayName: "in" } }),
  });
  const sent = await fetch(start.headers.get("x-goog-upload-url") ?? "", {
    method: "POST",
    headers: { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" },
    body: text,
  });
  return ((await sent.json()) as { file: { name: string } }).file.name;
}

const fromFile = (fileName: string) => ({ batch: { displayName: "job", inputConfig: { fileName } } });
const line = (id: string, more: object = {}) => JSON.stringify({ key: id, request: request(id, more) });

async function readRow(name: string) {
  const id = name.replace("batches/", "");
  const row = await gateway.database.db
    .selectFrom("batches")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const ledger = (await readLedger(gateway, row.request_id)).map(({ kind, quota }) => [kind, quota]);
  return { row, ledger, logs: await consumeRows(gateway, row.request_id) };
}

async function open(body: unknown, model = MODEL) {
  const response = await create(body, model);
  expect(response.status).toBe(200);
  const operation = (await response.json()) as Operation;
  return { operation, name: operation.name, upstreamId: (await readRow(operation.name)).row.upstream_id };
}

async function read(name: string): Promise<Operation> {
  const id = name.replace("batches/", "");
  await gateway.database.db.updateTable("batches").set({ polled_at: 0 }).where("id", "=", id).execute();
  return (await (await call(`/v1beta/${name}`)).json()) as Operation;
}

const settled = (name: string) =>
  expect.poll(async () => (await readRow(name)).row.phase, { timeout: 20_000, interval: 100 }).toBe("settled");
const creations = () => gateway.upstream.requests.filter(({ path }) => /batchGenerate|asyncBatch/.test(path));
const nothingMoved = async () => {
  expect(creations()).toEqual([]);
  const ledger = await gateway.database.db.selectFrom("ledger").select("id").where("kind", "=", "deposit").execute();
  return ledger.length;
};

describe("a batch of Google whose requests are inside", () => {
  it("is sent with the client's bytes and a mark, followed to its end, and charged once at the batch price", async () => {
    const body = JSON.stringify(inline([item("a"), item("b")]));
    const { operation, name, upstreamId } = await open(body);
    expect(name).toMatch(/^batches\/[a-z0-9]{34}$/);
    expect(operation.metadata).toMatchObject({ name, displayName: "job", state: "BATCH_STATE_PENDING" });
    expect(JSON.stringify(operation)).not.toContain("gb-up");
    const sent = creations()[0];
    expect(sent?.headers["x-goog-api-key"]).toBe("g-test");
    expect(sent?.body.toString().replace(/ #fw:[0-9a-f]{8}/, "")).toBe(body);
    expect((await readRow(name)).ledger).toMatchObject([["deposit", expect.any(Number)]]);

    gateway.upstream.geminiBatches.end(upstreamId, { failed: ["b"] });
    const ended = await read(name);
    const results = [
      { metadata: { key: "a" }, response: { usageMetadata: { promptTokenCount: 100 } } },
      { metadata: { key: "b" }, error: { code: 400 } },
    ];
    expect(ended).toMatchObject({
      name,
      done: true,
      metadata: {
        name,
        displayName: "job",
        state: "BATCH_STATE_SUCCEEDED",
        output: { inlinedResponses: { inlinedResponses: results } },
      },
      response: { inlinedResponses: { inlinedResponses: results } },
    });
    expect((await readRow(name)).row.wire).not.toContain("usageMetadata");
    await settled(name);
    const { row, ledger, logs } = await readRow(name);
    expect(ledger).toEqual([
      ["deposit", -row.deposit],
      ["return", row.deposit],
      ["consume", -CHARGE],
    ]);
    expect(logs).toMatchObject([{ quota: CHARGE, prompt_tokens: 100, completion_tokens: 50, model_name: MODEL }]);
    expect(logs[0]?.other["batch"]).toMatchObject({ items: 2, succeeded: 1, failed: 1, saved: CHARGE });
    for (let times = 0; times < 3; times++) await read(name);
    expect((await readRow(name)).ledger).toEqual(ledger);
  });

  it("has the upstream's model in the path and in its requests where the channel maps it, and no other change", async () => {
    const body = JSON.stringify(inline([item("a", { model: "models/alias" }), item("b")]));
    const { operation, upstreamId } = await open(body, "alias");
    expect(creations()[0]?.path).toBe(`/v1beta/models/${MODEL}:batchGenerateContent`);
    const sent = creations()[0]
      ?.body.toString()
      .replace(/ #fw:[0-9a-f]{8}/, "");
    expect(sent).toBe(body.replace("models/alias", `models/${MODEL}`));
    expect(operation.metadata["model"]).toBe("models/alias");
    expect(gateway.upstream.geminiBatches.batches.get(upstreamId)?.model).toBe(MODEL);
  });

  it("may be written with underscores, below /v1, without a name and without keys", async () => {
    const body = { batch: { input_config: { requests: { requests: [{ request: request("a") }] } } } };
    const response = await call(`/v1/models/${MODEL}:batchGenerateContent`, { method: "POST", body });
    expect(response.status).toBe(200);
    const operation = (await response.json()) as Operation;
    expect(operation.metadata).not.toHaveProperty("displayName");
    const { row } = await readRow(operation.name);
    gateway.upstream.geminiBatches.end(row.upstream_id);
    expect((await (await call(`/v1/${operation.name}`)).json()) as Operation).toMatchObject({ name: operation.name });
    await read(operation.name);
    await settled(operation.name);
    expect((await readRow(operation.name)).row.charged).toBe(CHARGE);
  });

  it("of embeddings is charged by the tokens that the vendor counted", async () => {
    const body = inline([{ request: { content: { parts: [{ text: "a" }] } }, metadata: { key: "a" } }]);
    const response = await call(`/v1beta/models/${EMBEDDING}:asyncBatchEmbedContent`, { method: "POST", body });
    expect(response.status).toBe(200);
    const { name } = (await response.json()) as Operation;
    gateway.upstream.geminiBatches.end((await readRow(name)).row.upstream_id);
    expect((await read(name)).metadata.output).toMatchObject({
      inlinedEmbedContentResponses: { inlinedResponses: [{ response: { embedding: { values: [0.1, 0.2] } } }] },
    });
    await settled(name);
    const { logs } = await readRow(name);
    expect(logs).toMatchObject([{ prompt_tokens: 100, completion_tokens: 0, model_name: EMBEDDING }]);
    expect(logs[0]?.quota).toBeGreaterThan(0);
  });

  it("counts repeated and unknown keys as nothing, and waits for results that are missing", async () => {
    const { name, upstreamId } = await open(inline([item("a"), item("b")]));
    gateway.upstream.geminiBatches.end(upstreamId, { itemsSent: 1 });
    await read(name);
    await expect.poll(async () => (await readRow(name)).row.error, { timeout: 15_000 }).toBe("short_results");
    gateway.upstream.geminiBatches.end(upstreamId, { duplicates: ["a"], unknownKeys: ["x"] });
    await gateway.database.db.updateTable("batches").set({ next_poll_at: 0 }).execute();
    await settled(name);
    const { row, logs } = await readRow(name);
    expect(row.charged).toBe(2 * CHARGE);
    expect(logs[0]?.other["batch"]).toMatchObject({ succeeded: 2, unreadable: 1, duplicates: 1 });
  });

  it("that expires, fails or is cancelled costs nothing, and shows its last state while the vendor is busy", async () => {
    const names = [];
    for (const state of ["EXPIRED", "FAILED"] as const) {
      const { name, upstreamId } = await open(inline([item("a")]));
      gateway.upstream.geminiBatches.failNext(429);
      expect((await read(name)).metadata["state"]).toBe("BATCH_STATE_PENDING");
      gateway.upstream.geminiBatches.end(upstreamId, { state });
      expect((await read(name)).metadata["state"]).toBe(`BATCH_STATE_${state}`);
      names.push(name);
    }
    const { name } = await open(inline([item("a")]));
    const cancelled = await call(`/v1beta/${name}:cancel`, { method: "POST" });
    expect([cancelled.status, await cancelled.json()]).toEqual([200, {}]);
    expect((await read(name)).metadata["state"]).toBe("BATCH_STATE_CANCELLED");
    for (const one of [...names, name]) {
      await settled(one);
      expect((await readRow(one)).ledger.map(([kind]) => kind)).toEqual(["deposit", "return"]);
    }
  });

  it("is found again by its mark if the answer to its creation was lost", async () => {
    gateway.upstream.geminiBatches.loseNextAnswer();
    expect((await create(inline([item("a")]))).status).toBe(502);
    const found = gateway.database.db.selectFrom("batches").selectAll().where("phase", "=", "creating");
    const { id } = await found.executeTakeFirstOrThrow();
    await gateway.database.db.updateTable("batches").set({ next_poll_at: 0 }).where("id", "=", id).execute();
    const name = `batches/${id}`;
    await expect.poll(async () => (await readRow(name)).row.phase, { timeout: 45_000 }).toBe("open");
    gateway.upstream.geminiBatches.end((await readRow(name)).row.upstream_id);
    expect((await read(name)).metadata["displayName"]).toBe("job");
    await settled(name);
    expect((await readRow(name)).row.charged).toBe(CHARGE);
  }, 90_000);
});

describe("a batch of Google whose requests are in a file", () => {
  it("is created at the file's upstream, and its results are a file of the user", async () => {
    const file = await upload(["a", "b", "c"].map((id) => line(id)).join("\n"));
    const { operation, name, upstreamId } = await open(fromFile(file));
    expect(operation.metadata["inputConfig"]).toEqual({ fileName: file });
    const sent = gateway.upstream.geminiBatches.batches.get(upstreamId);
    expect(sent?.displayName).toMatch(/^job #fw:[0-9a-f]{8}$/);
    gateway.upstream.geminiBatches.end(upstreamId, { failed: ["c"], duplicates: ["a"], hasUnreadableLine: true });
    const ended = await read(name);
    const output = ended.metadata.output?.responsesFile ?? "";
    expect(output).toMatch(/^files\/[a-z0-9]{34}$/);
    expect(ended.response).toMatchObject({ responsesFile: output });
    const content = await (await call(`/v1beta/${output}:download?alt=media`)).text();
    expect(content.trim().split("\n")).toHaveLength(5);
    await settled(name);
    const { row, logs } = await readRow(name);
    expect(row.charged).toBe(2 * CHARGE);
    expect(logs[0]?.other["batch"]).toMatchObject({ succeeded: 2, failed: 1, unreadable: 1, duplicates: 1 });
  });

  it("waits for a file of results that comes late", async () => {
    const { name, upstreamId } = await open(fromFile(await upload(line("a"))));
    gateway.upstream.geminiBatches.end(upstreamId, { isLate: true });
    expect((await read(name)).metadata.output).toBeUndefined();
    await expect.poll(async () => (await readRow(name)).row.error, { timeout: 15_000 }).toBe("results_unreadable");
    gateway.upstream.geminiBatches.addOutput(upstreamId);
    expect((await read(name)).metadata.output?.responsesFile).toMatch(/^files\//);
    await gateway.database.db.updateTable("batches").set({ next_poll_at: 0 }).execute();
    await settled(name);
    expect((await readRow(name)).row.charged).toBe(CHARGE);
  });

  it("has failed if its lines have faults: nothing is sent and no money is moved", async () => {
    const before = await nothingMoved();
    const lines = [line("a"), "{", line("a"), line("d", { model: "other" }), JSON.stringify({ key: "e" })];
    const response = await create(fromFile(await upload(`${lines.join("\r\n")}\r\n\r\n`)));
    expect(response.status).toBe(200);
    const operation = (await response.json()) as Operation;
    expect(operation).toMatchObject({ done: true, metadata: { state: "BATCH_STATE_FAILED", displayName: "job" } });
    expect(operation.error?.message.split("\n")).toEqual([
      "Line 2: This line is not a valid JSON object.",
      "Line 3: Another line has the same key.",
      expect.stringMatching(/^Line 4: .*the model of the path/) as string,
      "Line 5: The line has no request, or it is no object.",
    ]);
    expect(await read(operation.name)).toEqual(operation);
    expect(await nothingMoved()).toBe(before);
  });
});

describe("the calls about Google's batches", () => {
  it.each([
    ["no batch", {}, /batch: it must be an object/],
    ["no input", { batch: {} }, /batch: it must have inputConfig/],
    ["two inputs", { batch: { inputConfig: {}, input_config: {} } }, /not both/],
    [
      "requests and a file",
      { batch: { inputConfig: { requests: { requests: [] }, fileName: "files/a" } } },
      /not both/,
    ],
    ["an empty list", inline([]), /at least one item/],
    ["an item without a request", inline([{}]), /requests\.0\.request: /],
    ["a key that is there twice", inline([item("a"), item("a")]), /requests\.1\.metadata\.key: another item/],
    [
      "a request that names another model",
      inline([item("a", { model: "models/other" })]),
      /requests\.0\.request\.model: /,
    ],
    ["a model of the batch that is another", { batch: { model: "models/x", inputConfig: {} } }, /batch\.model: /],
  ])("refuse %s in Google's form, send nothing and move no money", async (_name, body, message) => {
    const before = await nothingMoved();
    const response = await create(body);
    const { error } = (await response.json()) as { error: { code: number; status: string; message: string } };
    expect([response.status, error.code, error.status]).toEqual([400, 400, "INVALID_ARGUMENT"]);
    expect(error.message).toMatch(message);
    expect(await nothingMoved()).toBe(before);
  });

  it("refuse unknown models and files, and requests without a limit from keys with little money", async () => {
    const unknown = await create(inline([item("a")]), "nothing-like-it");
    expect([unknown.status, await unknown.text()]).toEqual([400, expect.stringContaining("nothing-like-it")]);
    const file = await create(fromFile("files/unknown"));
    expect([file.status, await file.text()]).toEqual([404, expect.stringContaining("NOT_FOUND")]);
    const poor = await gateway.token({ unlimited_quota: false, remain_quota: 1_000_000 });
    const uncapped = await create(inline([item("a", { generationConfig: {} })]), MODEL, poor);
    expect([uncapped.status, await uncapped.text()]).toEqual([400, expect.stringContaining("maxOutputTokens")]);
    expect(creations()).toEqual([]);
  });

  it("list in pages without results, delete after the end, and hide the batches of others", async () => {
    const { name, upstreamId } = await open(inline([item("a")]));
    const second = await open(inline([item("b")]));
    expect((await call(`/v1beta/${name}`, { method: "DELETE" })).status).toBe(400);
    gateway.upstream.geminiBatches.end(upstreamId);
    await read(name);
    await settled(name);
    const list = async (query: string) =>
      (await (await call(`/v1beta/batches${query}`)).json()) as { operations: Operation[]; nextPageToken?: string };
    const all = (await list("?pageSize=1000")).operations;
    const found = all.find((one) => one.name === name);
    expect(found?.metadata).toMatchObject({ state: "BATCH_STATE_SUCCEEDED", output: {} });
    expect(JSON.stringify(all)).not.toContain("The answer to");
    const first = await list("?pageSize=1");
    const next = await list(`?pageSize=1000&pageToken=${first.nextPageToken}`);
    expect([...first.operations, ...next.operations].map((one) => one.name)).toEqual(all.map((one) => one.name));
    expect(all.map((one) => one.name)).toContain(second.name);
    expect((await call("/v1beta/batches?pageToken=x")).status).toBe(400);
    expect(await (await call(`/v1beta/${name}`, { method: "DELETE" })).json()).toEqual({});
    const gone = await call(`/v1beta/${name}`);
    expect([gone.status, await gone.json()]).toMatchObject([404, { error: { status: "NOT_FOUND" } }]);
    expect(gateway.upstream.geminiBatches.batches.has(upstreamId)).toBe(false);
    for (const [method, path] of [
      ["GET", `/v1/${second.name}`],
      ["PUT", `/v1beta/${second.name}`],
      ["POST", `/v1beta/${second.name}:pause`],
    ] as const)
      expect((await call(path, { method })).status).toBe({ GET: 200, PUT: 405, POST: 405 }[method]);
  });
});
