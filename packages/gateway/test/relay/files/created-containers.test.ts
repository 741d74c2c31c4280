import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { checkCounters } from "../../../src/billing/audit/counters.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { createTenant } from "../../kit/tenants.ts";

const MODEL = "gpt-code-runner";
/** 0.03 US dollars at 500,000 units a dollar. */
const SMALL = 15_000;

interface Made {
  readonly id: string;
  readonly name?: string;
  readonly status: string;
}

eachDatabase("containers that clients create", (open) => {
  let gateway: RelayApp;
  let mine = "";
  let theirs = "";
  let calls: string[] = [];
  let serial = 0;
  let refuses = 0;

  beforeAll(async () => {
    gateway = await startRelayApp({ FAIRWAY_DATABASE_URL: await open() });
    // The channel with the higher priority has no containers.
    await gateway.channel("claude-none", { type: 14, key: "sk-other", priority: 9 });
    await gateway.channel(MODEL, { type: 1, key: "sk-owner" });
    mine = await createTenant(gateway);
    theirs = await createTenant(gateway);
  }, 60_000);
  afterAll(() => gateway.close());

  beforeEach(() => {
    [calls, refuses] = [[], 0];
    gateway.upstream.reset();
    gateway.upstream.script("/v1/files", () => {
      const id = `file-up${++serial}`;
      return { body: { id, object: "file", bytes: 3, created_at: 1, filename: "a.csv", purpose: "user_data" } };
    });
    gateway.upstream.script("/v1/containers", ({ json, headers }) => {
      calls.push(`POST ${String(headers.authorization)} ${JSON.stringify(json)}`);
      if (refuses > 0) return { status: refuses, body: { error: { message: "no", type: "invalid_request_error" } } };
      const id = `cntr_made${++serial}`;
      scriptOne(id);
      return { body: show(id, json?.["name"]) };
    });
  });

  // Whatever a test did, every charge has its rows.
  afterEach(async () => {
    await gateway.settled();
    const { raw } = gateway.database;
    expect([await checkLedgerSums(raw), await checkCounters(raw)]).toEqual([[], []]);
  });

  const show = (id: string, name: unknown = "") => ({
    id,
    object: "container",
    created_at: 1_700_000_000,
    name,
    status: "running",
    expires_after: { anchor: "last_active_at", minutes: 20 },
  });

  function scriptOne(id: string) {
    gateway.upstream.script(`/v1/containers/${id}`, ({ method }) => {
      calls.push(`${method} ${id}`);
      return { body: method === "DELETE" ? { id, object: "container.deleted", deleted: true } : show(id, "seen") };
    });
    gateway.upstream.script(`/v1/containers/${id}/files`, ({ method, json, body }) => {
      const text = JSON.stringify(json) ?? body.toString();
      calls.push(`${method} files ${/filename="[^"]+"/.exec(body.toString())?.[0] ?? text}`);
      return { body: { id: "cfile_1", object: "container.file", bytes: 3 } };
    });
  }

  const call = (key: string, method: string, rest = "", body?: object) =>
    fetch(`${gateway.url}/v1/containers${rest}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });

  async function create(key: string, body: object = { name: "work" }): Promise<Made> {
    const answer = await call(key, "POST", "", body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Made;
  }

  async function list(key: string, query = ""): Promise<string[]> {
    const { data } = (await (await call(key, "GET", query)).json()) as { data: Made[] };
    return data.map(({ id }) => id);
  }

  async function charges() {
    await gateway.settled();
    const rows = gateway.database.db.selectFrom("ledger").select(["request_id", "quota"]);
    const found = await rows.where("kind", "=", "consume").orderBy("id").execute();
    return found.map(({ request_id: id, quota }) => ({ id, charge: -quota }));
  }

  const upload = async (key: string) => {
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new Blob(["1,2"]), "a.csv");
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
    return ((await answer.json()) as Made).id;
  };

  it("are created at an account that has them, charged once by their size, and logged", async () => {
    const before = await charges();
    const made = await create(mine);
    expect(calls).toEqual([`POST Bearer sk-owner {"name":"work"}`]);
    const large = await create(mine, { name: "large", memory_limit: "4g" });
    for (const id of [made.id, large.id]) expect((await call(mine, "GET", `/${id}`)).status).toBe(200);
    const booked = (await charges()).slice(before.length);
    expect(booked.map(({ charge }) => charge)).toEqual([SMALL, 4 * SMALL]);
    const logs = gateway.database.db.selectFrom("logs").select(["model_name", "quota", "content"]);
    const content = `Container ${made.id} created with 1g of memory`;
    await expect
      .poll(() => logs.where("request_id", "=", booked[0]?.id ?? "").execute())
      .toEqual([{ model_name: "container_1g", quota: SMALL, content }]);
  });

  it("have the price that the operator sets, and none is charged for a refused creation", async () => {
    await gateway.option("ToolPrice", JSON.stringify({ container_1g: 2 }));
    const before = await charges();
    await create(mine);
    refuses = 400;
    expect((await call(mine, "POST", "", { name: "no" })).status).toBe(400);
    await gateway.option("ToolPrice", "{}");
    expect((await charges()).slice(before.length).map(({ charge }) => charge)).toEqual([1_000]);
  });

  it("are listed for their user alone, in pages, as they were seen last", async () => {
    const [first, second] = [await create(theirs), await create(theirs)];
    const ids = [first.id, second.id];
    expect(new Set(await list(theirs))).toEqual(new Set(ids));
    const [page = ""] = await list(theirs, "?limit=1&order=asc");
    expect(await list(theirs, `?limit=5&order=asc&after=${page}`)).toEqual(ids.filter((id) => id !== page));
    expect(await list(mine)).not.toContain(first.id);
    expect((await call(mine, "GET", `/${first.id}`)).status).toBe(404);
    expect((await call(mine, "DELETE", `/${first.id}`)).status).toBe(404);
    await (await call(theirs, "GET", `/${first.id}`)).text();
    const answer = (await (await call(theirs, "GET")).json()) as { data: Made[] };
    expect(answer.data.find(({ id }) => id === first.id)).toMatchObject({ name: "seen", status: "running" });
    expect(await (await call(theirs, "DELETE", `/${first.id}`)).json()).toMatchObject({ id: first.id, deleted: true });
    expect(await list(theirs)).toEqual([second.id]);
    expect((await call(theirs, "GET", "?after=cntr_none")).status).toBe(400);
  });

  it("take own files by id and as bytes; the ids of others do not exist", async () => {
    const [own, foreign] = [await upload(mine), await upload(theirs)];
    const made = await create(mine, { name: "work", file_ids: [own] });
    expect(calls.at(-1)).toMatch(/"file_ids":\["file-up\d+"\]/);
    expect((await call(mine, "POST", `/${made.id}/files`, { file_id: own })).status).toBe(200);
    expect(calls.at(-1)).toMatch(/^POST files \{"file_id":"file-up\d+"\}$/);
    const form = new FormData();
    form.set("file", new Blob(["1,2"]), "b.csv");
    const headers = { authorization: `Bearer ${mine}` };
    const url = `${gateway.url}/v1/containers/${made.id}/files`;
    expect((await fetch(url, { method: "POST", headers, body: form })).status).toBe(200);
    expect(calls.at(-1)).toBe('POST files filename="b.csv"');
    const sent = calls.length;
    expect((await call(mine, "POST", "", { file_ids: [foreign] })).status).toBe(404);
    expect((await call(mine, "POST", `/${made.id}/files`, { file_id: foreign })).status).toBe(404);
    expect((await call(theirs, "POST", `/${made.id}/files`, { file_id: foreign })).status).toBe(404);
    expect((await call(mine, "POST", "", { skills: [{ type: "skill_reference", skill_id: "s" }] })).status).toBe(400);
    expect(calls).toHaveLength(sent);
  });

  it("run the code of requests that name them, which pay for them no second time", async () => {
    const made = await create(mine);
    gateway.upstream.script("/v1/responses", ({ json }) => {
      calls.push(`POST ${JSON.stringify(json?.["tools"])}`);
      return {
        body: {
          id: `resp_${++serial}`,
          object: "response",
          status: "completed",
          model: MODEL,
          output: [{ type: "code_interpreter_call", id: "ci_1", container_id: made.id, code: "1", outputs: [] }],
          usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
        },
      };
    });
    const ask = (key: string, container: unknown) =>
      gateway.post(
        "/v1/responses",
        { model: MODEL, input: "plot", tools: [{ type: "code_interpreter", container }] },
        key,
      );
    const before = await charges();
    const answer = await ask(mine, made.id);
    expect(answer.status).toBe(200);
    await answer.text();
    expect(calls.at(-1)).toBe(`POST [{"type":"code_interpreter","container":"${made.id}"}]`);
    expect((await ask(theirs, made.id)).status).toBe(404);
    await (await ask(mine, { type: "auto" })).text();
    const [named, auto] = (await charges()).slice(before.length);
    expect((auto?.charge ?? 0) - (named?.charge ?? 0)).toBe(SMALL);
  });
});
