import { createHash, randomBytes } from "node:crypto";
import { messageText } from "@fairway/wire";
import OpenAI, { toFile } from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { readError } from "../../kit/relay-app.ts";
import { useTenants } from "../../kit/tenants.ts";

const tenants = useTenants();
const LINES = `${JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body: { model: "m", messages: [] } })}\n`;

beforeEach(() => tenants.gateway.upstream.reset());

function client(key: string): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${tenants.gateway.url}/v1`, maxRetries: 0 });
}

function upload(form: FormData, key: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${tenants.gateway.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: form,
  });
}

function buildForm(...fields: (readonly [string, string | Blob, string?])[]): FormData {
  const form = new FormData();
  for (const [name, value, filename] of fields)
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, filename);
  return form;
}

async function storedId(key: string, purpose = "user_data"): Promise<string> {
  const file = await client(key).files.create({
    purpose: purpose as "user_data",
    file: await toFile(Buffer.from("%PDF-1.7\n"), "a.pdf"),
  });
  return file.id;
}

describe("files of the official client", () => {
  it("are uploaded, listed in pages, read and deleted", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("stores");
    const openai = client(mine);
    const names = ["1.jsonl", "2.jsonl", "3.jsonl"];
    const ids: string[] = [];
    for (const name of names) {
      const made = await openai.files.create({ file: await toFile(Buffer.from(LINES), name), purpose: "batch" });
      expect(made).toMatchObject({
        object: "file",
        bytes: LINES.length,
        filename: name,
        purpose: "batch",
        status: "processed",
      });
      expect(made.id).toMatch(/^file-[0-9A-Za-z]{34}$/);
      ids.push(made.id);
    }
    expect([...gateway.upstream.files.stored.values()].map(({ bytes }) => bytes.toString())).toEqual([
      LINES,
      LINES,
      LINES,
    ]);
    const seen: string[] = [];
    for await (const file of openai.files.list({ limit: 2, order: "asc", purpose: "batch" })) seen.push(file.id);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen).toHaveLength(ids.length);
    const [first = ""] = ids;
    expect(await openai.files.retrieve(first)).toMatchObject({ id: first, filename: "1.jsonl" });
    const content = await openai.files.content(first);
    expect(await content.text()).toBe(LINES);
    expect(content.headers.get("content-disposition")).toMatch(/^attachment; filename="1\.jsonl"/);
    expect(content.headers.get("x-content-type-options")).toBe("nosniff");
    expect(content.headers.get("x-upstream-secret")).toBeNull();
    expect(await openai.files.delete(first)).toEqual({ id: first, object: "file", deleted: true });
    await expect(openai.files.retrieve(first)).rejects.toMatchObject({ status: 404, code: "file_not_found" });
    for (const id of ids.slice(1)) await openai.files.delete(id);
    expect(gateway.upstream.files.stored.size).toBe(0);
    expect(gateway.logLines()).not.toContain("1.jsonl");
  });

  it("carry their expiry to the upstream and back", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("stores");
    const made = await client(mine).files.create({
      file: await toFile(Buffer.from("x"), "a.txt"),
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 3_600 },
    });
    expect(made.expires_at).toBe(1_790_003_600);
    expect(gateway.upstream.requests.at(-1)?.body.toString()).toContain("expires_after[seconds]");
  });
});

describe("the bytes of an upload", () => {
  it.each([
    ["before", true],
    ["after", false],
  ])("are the same upstream when the purpose comes %s the file", async (_place, isFirst) => {
    const { gateway, mine } = tenants;
    await gateway.channel("stores");
    const bytes = randomBytes(3_000_000);
    const file = ["file", new Blob([bytes]), "Größe 1.bin"] as const;
    const purpose = ["purpose", "user_data"] as const;
    const model = ["model", "stores"] as const;
    const form = isFirst ? buildForm(model, purpose, file) : buildForm(file, model, purpose);
    const made = (await (await upload(form, mine)).json()) as { id: string; bytes: number };
    expect(made.bytes).toBe(bytes.length);
    const [stored] = gateway.upstream.files.stored.values();
    const hash = (of: Buffer) => createHash("sha256").update(of).digest("hex");
    expect(hash(stored?.bytes ?? Buffer.alloc(0))).toBe(hash(bytes));
    const sent = gateway.upstream.requests[0];
    expect(sent?.headers["content-length"]).toBe(String(sent?.body.length));
    expect(sent?.body.subarray(0, 400).toString("latin1") ?? "").not.toContain("stores");
    const part = await fetch(`${gateway.url}/v1/files/${made.id}/content`, {
      headers: { authorization: `Bearer ${mine}`, range: "bytes=5-9" },
    });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 5-9/${bytes.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(5, 10));
  });

  it("are refused without a file, a purpose, a form, or twice the same field", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("stores");
    const file = ["file", new Blob(["x"]), "a.txt"] as const;
    const before = await usage();
    const forms = [
      buildForm(["purpose", "user_data"]),
      buildForm(file),
      buildForm(["purpose", "user_data"], file, ["purpose", "batch"]),
      buildForm(["purpose", "user_data"], file, file),
    ];
    for (const form of forms) expect((await upload(form, mine)).status).toBe(400);
    const plain = await gateway.post("/v1/files", "{}", mine);
    expect([plain.status, (await readError(plain)).code]).toEqual([400, "invalid_request"]);
    expect(gateway.upstream.files.stored.size).toBe(0);
    expect(await usage()).toEqual(before);
  });

  it("leave nothing behind when the upstream refuses them", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("stores");
    const before = await usage();
    gateway.upstream.script("/v1/files", () => ({ status: 400, body: { error: { message: "The file is no good." } } }));
    const answer = await upload(buildForm(["purpose", "user_data"], ["file", new Blob(["x"]), "a.txt"]), mine);
    expect([answer.status, (await readError(answer)).message]).toEqual([
      400,
      expect.stringContaining("The file is no good.") as string,
    ]);
    expect(await usage()).toEqual(before);
  });
});

async function usage(): Promise<readonly unknown[]> {
  return tenants.gateway.database.raw.rows("select files, bytes from object_usage where files <> 0 or bytes <> 0", []);
}

// @weakness Sessions and permissions: A user reads, lists, uses or deletes another user's file at an account that both share, or learns that it exists
describe("a file of another user", () => {
  it("is answered exactly like one that does not exist", async () => {
    const { gateway, mine, theirs } = tenants;
    await gateway.channel("shared");
    const id = await storedId(mine);
    const unknown = id.slice(0, -1) + (id.endsWith("x") ? "y" : "x");
    const calls = [
      ["GET", (one: string) => `/v1/files/${one}`],
      ["GET", (one: string) => `/v1/files/${one}/content`],
      ["DELETE", (one: string) => `/v1/files/${one}`],
    ] as const;
    const ask = async (method: string, path: string, one: string) => {
      const answer = await fetch(gateway.url + path, { method, headers: { authorization: `Bearer ${theirs}` } });
      const said = (await answer.text()).replaceAll(one, "ID").replace(/request id: \w+/, "");
      return [answer.status, said];
    };
    for (const [method, path] of calls) {
      const [other, none] = [await ask(method, path(id), id), await ask(method, path(unknown), unknown)];
      expect(other).toEqual(none);
      expect(other[0]).toBe(404);
      expect(String(other[1])).toContain('"No such File object: ID');
    }
    const body = (one: string) => ({
      model: "shared",
      messages: [{ role: "user", content: [{ type: "file", file: { file_id: one } }] }],
    });
    gateway.upstream.reset();
    const refused = await gateway.post("/v1/chat/completions", body(id), theirs);
    expect([refused.status, (await readError(refused)).code]).toEqual([404, "file_not_found"]);
    expect(gateway.upstream.requests).toHaveLength(0);
    const list = await client(theirs).files.list();
    expect(list.data).toEqual([]);
  });
});

describe("a request that names a file", () => {
  const ask = (path: string, id: string, model = "pinned") =>
    tenants.gateway.post(
      path,
      path.endsWith("responses")
        ? { model, input: [{ role: "user", content: [{ type: "input_file", file_id: id }] }] }
        : { model, messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }] },
      tenants.mine,
    );

  it.each(["/v1/chat/completions", "/v1/responses"])(
    "of %s goes to the channel that stores it, under the upstream's id",
    async (path) => {
      const { gateway, mine } = tenants;
      const model = `pinned-${path.length}`;
      await gateway.channel(model, { name: "store", key: "sk-store" });
      const id = (await (
        await upload(buildForm(["model", model], ["purpose", "user_data"], ["file", new Blob(["x"]), "a.pdf"]), mine)
      ).json()) as { id: string };
      await gateway.channel(model, { priority: 10, key: "sk-other" });
      gateway.upstream.reset();
      const answer = await ask(path, id.id, model);
      expect(answer.status).toBe(200);
      await answer.text();
      expect(gateway.upstream.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-store"]);
      const sent = gateway.upstream.requests[0]?.body.toString() ?? "";
      expect(sent).toMatch(/"file_id":"file-UP\d+"/);
      expect(sent).not.toContain(id.id);
    },
  );

  it("is refused where the channel does not serve the model, is off, or is another one for each file", async () => {
    const { gateway, mine, root } = { ...tenants, root: tenants.gateway.root };
    const channel = await gateway.channel("only-here", { key: "sk-a" });
    await gateway.channel("elsewhere", { key: "sk-b" });
    const store = async (model: string) => {
      const form = buildForm(["purpose", "user_data"], ["file", new Blob(["x"]), "a.pdf"]);
      return ((await (await upload(form, mine, { "x-fairway-model": model })).json()) as { id: string }).id;
    };
    const [here, there] = [await store("only-here"), await store("elsewhere")];
    const wrong = await readError(await ask("/v1/responses", here, "elsewhere"));
    expect(wrong).toMatchObject({ code: "file_not_on_channel", param: "file_id" });
    expect(wrong.message).toContain(`The file ${here} is stored with an upstream that does not serve elsewhere.`);
    const both = await gateway.post(
      "/v1/responses",
      {
        model: "only-here",
        input: [{ role: "user", content: [here, there].map((file_id) => ({ type: "input_file", file_id })) }],
      },
      mine,
    );
    expect(await readError(both)).toMatchObject({ code: "files_on_different_channels" });
    await root.must("PUT", "/api/channel/", { id: channel, status: 2 });
    expect(await readError(await ask("/v1/responses", here, "elsewhere"))).toMatchObject({ code: "file_unavailable" });
    expect((await client(mine).files.content(here)).status).toBe(200);
    await root.must("DELETE", `/api/channel/${channel}`);
    const lost = await fetch(`${gateway.url}/v1/files/${here}`, { headers: { authorization: `Bearer ${mine}` } });
    expect([lost.status, (await readError(lost)).code]).toEqual([410, "file_lost"]);
    const listed = (await client(mine).files.list()).data.find(({ id }) => id === here);
    expect(listed?.status).toBe("error");
    await client(mine).files.delete(here);
    expect(gateway.upstream.requests.filter(({ path }) => path.endsWith("/responses"))).toHaveLength(0);
  });
});

describe("where files go", () => {
  it("follows the model of the first request, the header, and the operator's channels", async () => {
    const { gateway, mine } = tenants;
    const chosen = await gateway.channel("m", { key: "sk-m", tag: "files" });
    await gateway.channel("n", { key: "sk-n", priority: 50 });
    const keyOf = async (form: FormData, headers: Record<string, string> = {}) => {
      gateway.upstream.reset();
      expect((await upload(form, mine, headers)).status).toBe(200);
      return gateway.upstream.requests[0]?.headers.authorization;
    };
    const plain = () => buildForm(["purpose", "user_data"], ["file", new Blob(["x"]), "a.pdf"]);
    expect(await keyOf(plain())).toBe("Bearer sk-n");
    expect(await keyOf(plain(), { "x-fairway-model": "m" })).toBe("Bearer sk-m");
    expect(await keyOf(buildForm(["purpose", "batch"], ["file", new Blob([LINES]), "a.jsonl"]))).toBe("Bearer sk-m");
    await gateway.option("FileChannels", JSON.stringify({ default: ["files"] }));
    expect(await keyOf(plain())).toBe("Bearer sk-m");
    await gateway.option("FileChannels", JSON.stringify({ default: [chosen] }));
    expect(await keyOf(plain())).toBe("Bearer sk-m");
    await gateway.option("FileChannels", "{}");
  });

  it("has room for as much as the options allow", async () => {
    const { gateway, theirs } = tenants;
    await gateway.channel("stores");
    const plain = () => buildForm(["purpose", "user_data"], ["file", new Blob(["x"]), "a.pdf"]);
    await gateway.option("FileUserCount", 0);
    const off = await upload(plain(), theirs);
    expect([off.status, (await readError(off)).code]).toEqual([403, "files_not_allowed"]);
    await gateway.option("FileGroupQuotas", JSON.stringify({ default: { count: 1_000, megabytes: 1 } }));
    const large = await upload(
      buildForm(["purpose", "user_data"], ["file", new Blob([Buffer.alloc(1_100_000)]), "a.pdf"]),
      theirs,
    );
    expect(large.status).toBe(403);
    expect(await readError(large)).toMatchObject({ code: "storage_quota_exceeded", type: "insufficient_quota" });
    expect((await upload(plain(), theirs)).status).toBe(200);
    await gateway.option("FileGroupQuotas", "{}");
    await gateway.option("FileUserCount", 10_000);
  });
});

describe("the management of files", () => {
  it("deletes a file where it is stored, or says why the provider did not", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("stores");
    const form = buildForm(["purpose", "user_data"], ["file", new Blob(["x"]), "a.pdf"]);
    const { id } = (await (await upload(form, mine)).json()) as { id: string };
    const [upstreamId = ""] = [...gateway.upstream.files.stored.keys()].slice(-1);
    gateway.upstream.script(upstreamId, () => ({
      status: 500,
      body: { error: { message: `${upstreamId} is busy.` } },
    }));
    const refused = await gateway.root.call("DELETE", `/api/file/${id}`);
    expect(refused).toMatchObject({ success: false, message: expect.stringContaining(`${id} is busy.`) as string });
    expect(refused.message).toContain(messageText("stored_file_not_deleted", { reason: "" }));
    gateway.upstream.script(upstreamId, () => ({ body: { deleted: true } }));
    await gateway.root.must("DELETE", `/api/file/${id}`);
    await expect(client(mine).files.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect((await gateway.root.call("DELETE", `/api/file/${id}`)).success).toBe(false);
  });
});
