import { signIn, type Recorded } from "@fairway/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readLedger, startBatchApp, type BatchApp } from "./batch-kit.ts";

let app: BatchApp;

beforeAll(async () => {
  app = await startBatchApp();
}, 60_000);
afterAll(() => app.gateway.close());
beforeEach(() => app.gateway.upstream.reset());

interface Batch {
  readonly id: string;
  readonly processing_status: string;
  readonly results_url: string | null;
  readonly request_counts: Readonly<Record<string, number>>;
}

interface Failure {
  readonly type: string;
  readonly error: { readonly type: string; readonly message: string };
}

const creations = () => app.gateway.upstream.requests.filter(({ method }) => method === "POST");
const lastBody = () => (creations().at(-1) as Recorded).body.toString();

describe("creating a message batch", () => {
  it("sends the client's bytes after the deposit and answers with an id of the gateway", async () => {
    const text = `{ "requests" : [${app.item("a")} ,\n${app.item("b")}] }`;
    const response = await app.create(text);
    expect(response.status).toBe(200);
    const batch = (await response.json()) as Batch;
    expect(batch).toMatchObject({ type: "message_batch", processing_status: "in_progress", results_url: null });
    expect(batch.id).toMatch(/^msgbatch_[0-9A-Za-z]{34}$/);
    expect(batch.id).not.toBe("msgbatch_UP1");
    expect(lastBody()).toBe(text);
    expect(creations()[0]?.headers).toMatchObject({ "x-api-key": "sk-test", "anthropic-version": "2023-06-01" });
    const rows = await readLedger(app.gateway, response.headers.get("request-id"));
    expect(rows).toMatchObject([{ kind: "deposit" }]);
    expect(rows[0]?.quota).toBeLessThan(0);
  });

  it("gives mapped models the names of the upstream and changes no other byte", async () => {
    const text = `{"requests":[${app.item("a", "alias")},${app.item("b")},${app.item("c", "alias")}]}`;
    expect((await app.create(text)).status).toBe(200);
    expect(lastBody()).toBe(text.replaceAll('"alias"', '"claude-haiku-4-5"'));
  });

  it.each([
    ["a body that is no JSON", "{", "not valid JSON"],
    ["no list", '{"other":[]}', "requests: it must be a list."],
    ["an empty list", '{"requests":[]}', "requests: it must have at least one item."],
    ["a list that is there twice", '{"requests":[1],"requests":[2]}', "requests is in the body twice"],
    ["an item that is no object", '{"requests":[3]}', "requests.0: it must be a valid JSON object."],
    ["a bad custom id", `{"requests":[{"custom_id":"a b","params":{}}]}`, "requests.0.custom_id: "],
    ["no params", `{"requests":[{"custom_id":"a"}]}`, "requests.0.params: "],
    ["no model", `{"requests":[{"custom_id":"a","params":{}}]}`, "requests.0.params.model: "],
    [
      "two models",
      `{"requests":[{"custom_id":"a","params":{"model":"claude-haiku-4-5","model":"x"}}]}`,
      "requests.0.params.model: ",
    ],
  ])("refuses %s, sends nothing and moves no money", async (_name, text, message) => {
    const response = await app.create(text);
    expect(response.status).toBe(400);
    const failure = (await response.json()) as Failure;
    expect(failure).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    expect(failure.error.message).toContain(message);
    expect(app.gateway.upstream.requests).toEqual([]);
    expect(await readLedger(app.gateway, response.headers.get("request-id"))).toEqual([]);
  });

  it("refuses a custom id that is there twice and a model that the key may not use, like one that does not exist", async () => {
    const twice = await app.create(`{"requests":[${app.item("a")},${app.item("a")}]}`);
    expect(((await twice.json()) as Failure).error.message).toMatch(/^requests\.1\.custom_id: /);
    const limited = await app.gateway.token({ model_limits_enabled: true, model_limits: "claude-haiku-4-5" });
    const messages = [];
    for (const model of ["alias", "nonsense"]) {
      const response = await app.create(`{"requests":[${app.item("a")},${app.item("b", model)}]}`, limited);
      expect(response.status).toBe(400);
      messages.push(((await response.json()) as Failure).error.message.replace(model, "*"));
    }
    expect(messages[0]).toMatch(/^requests\.1\.params\.model: /);
    expect(messages[1]).toBe(messages[0]);
    expect(app.gateway.upstream.requests).toEqual([]);
  });

  it("refuses ids of files that the channel does not share, and derives the id of the end user", async () => {
    const file = `{"custom_id":"f","params":{"model":"claude-haiku-4-5","max_tokens":5,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_of_another"}}]}]}}`;
    const refused = await app.create(`{"requests":[${file}]}`);
    expect([refused.status, ((await refused.json()) as Failure).error.type]).toEqual([404, "not_found_error"]);
    const user = app.item("a").replace('"max_tokens"', '"metadata":{"user_id":"me"},"max_tokens"');
    expect((await app.create(`{"requests":[${user}]}`)).status).toBe(200);
    expect(lastBody()).toMatch(/"metadata":\{"user_id":"(?!me")[^"]+"\},"max_tokens"/);
  });

  it("answers a repeated call with the first batch, and refuses its key for another body", async () => {
    const text = `{"requests":[${app.item("a")}]}`;
    const headers = { "idempotency-key": "once" };
    const [first, second] = [await app.create(text, app.key, headers), await app.create(text, app.key, headers)];
    expect(((await second.json()) as Batch).id).toBe(((await first.json()) as Batch).id);
    expect(creations()).toHaveLength(1);
    const other = await app.create(`{"requests":[${app.item("b")}]}`, app.key, headers);
    expect([other.status, other.headers.get("x-should-retry")]).toEqual([409, "false"]);
  });

  it("returns the deposit if the upstream refuses the batch", async () => {
    app.gateway.upstream.script("/v1/messages/batches", () => ({
      status: 400,
      body: { type: "error", error: { type: "invalid_request_error", message: "too much" } },
    }));
    const response = await app.create(`{"requests":[${app.item("a")}]}`);
    expect([response.status, ((await response.json()) as Failure).error.message]).toEqual([400, "too much"]);
    const rows = await readLedger(app.gateway, response.headers.get("request-id"));
    expect(rows.map(({ kind }) => kind)).toEqual(["deposit", "return"]);
    expect(rows.reduce((sum, { quota }) => sum + quota, 0)).toBe(0);
  });

  it("is off for groups that are not listed, and limited in items and open batches", async () => {
    const create = (...items: string[]) => app.create(`{"requests":[${items.map((id) => app.item(id)).join()}]}`);
    await app.gateway.option("BatchGroups", "vip");
    expect((await create("a")).status).toBe(403);
    await app.gateway.option("BatchGroups", "");
    await app.gateway.option("BatchMaxItems", 1);
    expect((await create("a", "b")).status).toBe(400);
    await app.gateway.option("BatchMaxItems", 100_000);
    await app.gateway.option("BatchMaxOpenPerUser", (await app.countOpen()) + 1);
    const answers = [await create("a"), await create("b")];
    await app.gateway.option("BatchMaxOpenPerUser", 0);
    expect(answers.map(({ status }) => status)).toEqual([200, 429]);
    expect(answers[1]?.headers.get("retry-after")).toBe("300");
  });
});

describe("a message batch", () => {
  it("is followed to its end, and its results are streamed as they are", async () => {
    const { id, upstreamId } = await app.open(["a", "b", "c"]);
    app.gateway.upstream.batches.end(upstreamId, { b: "errored", c: "expired" });
    const ended = await app.read(id);
    expect(ended).toMatchObject({
      id,
      processing_status: "ended",
      request_counts: { processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 1 },
      results_url: `${app.gateway.url}/v1/messages/batches/${id}/results`,
    });
    const results = await fetch(ended.results_url ?? "", { headers: app.headers() });
    expect(results.headers.get("content-type")).toBe("application/x-jsonl");
    const lines = (await results.text()).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual(["c", "b", "a"]);
  });

  it("shows its last state while the upstream does not answer", async () => {
    const { id } = await app.open(["a"]);
    app.gateway.upstream.batches.failNext(429);
    expect(await app.read(id)).toMatchObject({ id, processing_status: "in_progress" });
  });

  it("is cancelled at the upstream and stays open until its end", async () => {
    const { id, upstreamId } = await app.open(["a"]);
    const response = await app.call("POST", `/${id}/cancel`);
    expect(await response.json()).toMatchObject({ id, processing_status: "canceling" });
    app.gateway.upstream.batches.end(upstreamId, { a: "canceled" });
  });

  it("is deleted only after its end, and then it is unknown", async () => {
    const { id, upstreamId } = await app.open(["a"]);
    expect((await app.call("DELETE", `/${id}`)).status).toBe(400);
    app.gateway.upstream.batches.end(upstreamId);
    await app.settle(id);
    expect(await (await app.call("DELETE", `/${id}`)).json()).toEqual({ id, type: "message_batch_deleted" });
    expect((await app.call("GET", `/${id}`)).status).toBe(404);
    expect(app.gateway.upstream.batches.batches.has(upstreamId)).toBe(false);
  });

  it("is unknown to other users in every call, like an id that does not exist", async () => {
    const { id } = await app.open(["a"]);
    const account = { username: "other", password: "other-password", display_name: "other" };
    await app.gateway.root.must("POST", "/api/user/", account);
    const other = await signIn(app.gateway.url, "other", "other-password");
    const foreign = await app.tokenOf(other);
    for (const [method, rest] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/cancel"],
      ["GET", "/results"],
    ] as const) {
      const answers = [];
      for (const asked of [id, "msgbatch_unknown"]) {
        const response = await app.call(method, `/${asked}${rest}`, foreign);
        answers.push([
          response.status,
          (await response.text()).replaceAll(asked, "*").replace(/"request_id":"[^"]*"/, ""),
        ]);
      }
      expect(answers[0]?.[0]).toBe(404);
      expect(answers[1]).toEqual(answers[0]);
    }
    expect(await (await app.call("GET", "?limit=5", foreign)).json()).toMatchObject({ data: [], has_more: false });
  });

  it("is listed newest first, in pages", async () => {
    const made = [];
    for (const item of ["x", "y", "z"]) made.push((await app.open([item])).id);
    const read = async (query: string) =>
      (await (await app.call("GET", query)).json()) as { data: Batch[]; has_more: boolean; last_id: string };
    const all = (await read("?limit=1000")).data.map(({ id }) => id);
    expect(all.slice(0, 3)).toEqual(made.toReversed());
    const [first, second] = [await read("?limit=2"), await read(`?limit=1000&after_id=${all[1]}`)];
    expect([first.data.map(({ id }) => id), first.has_more, first.last_id]).toEqual([all.slice(0, 2), true, all[1]]);
    expect(second.data.map(({ id }) => id)).toEqual(all.slice(2));
    expect((await read(`?limit=1&before_id=${all[2]}`)).data.map(({ id }) => id)).toEqual([all[1]]);
    expect((await app.call("GET", "?limit=0")).status).toBe(400);
    expect((await app.call("GET", "?after_id=nothing")).status).toBe(400);
  });
});
