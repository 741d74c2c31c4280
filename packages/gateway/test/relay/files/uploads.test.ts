// Uploads of OpenAI's protocol, which arrive in parts.
import { randomBytes } from "node:crypto";
import OpenAI, { toFile } from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import { useTenants } from "../../kit/tenants.ts";

const tenants = useTenants();
const MEGABYTE = 1024 * 1024;

beforeEach(() => tenants.gateway.upstream.reset());

function client(key: string): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${tenants.gateway.url}/v1`, maxRetries: 0 });
}

const begin = (openai: OpenAI, bytes: number, purpose: OpenAI.FilePurpose = "user_data") =>
  openai.uploads.create({ bytes, filename: "large.pdf", mime_type: "application/pdf", purpose });

const readUsage = async () => {
  const rows = tenants.gateway.database.db.selectFrom("object_usage").select(["files", "bytes"]);
  const all = await rows.execute();
  return { files: all.reduce((sum, row) => sum + row.files, 0), bytes: all.reduce((sum, row) => sum + row.bytes, 0) };
};

describe("an upload in parts of the official client", () => {
  it("becomes a file of its user, with the bytes in the order of the parts that the client names", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("stores");
    const openai = client(mine);
    const before = await readUsage();
    const bytes = randomBytes(3 * MEGABYTE);
    const upload = await begin(openai, bytes.length);
    expect(upload).toMatchObject({ object: "upload", status: "pending", filename: "large.pdf", bytes: bytes.length });
    expect(upload.id).toMatch(/^upload_[0-9A-Za-z]{34}$/);
    const send = async (at: number) =>
      openai.uploads.parts.create(upload.id, {
        data: await toFile(bytes.subarray(at * MEGABYTE, (at + 1) * MEGABYTE), "part"),
      });
    const parts = await Promise.all([2, 0, 1].map(send));
    expect(parts[0]).toMatchObject({ object: "upload.part", upload_id: upload.id });
    const inOrder = [parts[1], parts[2], parts[0]].map((part) => part?.id ?? "");
    const done = await openai.uploads.complete(upload.id, { part_ids: inOrder });
    expect(done).toMatchObject({ id: upload.id, status: "completed", file: { object: "file", bytes: bytes.length } });
    const id = done.file?.id ?? "";
    expect(id).toMatch(/^file-[0-9A-Za-z]{34}$/);
    expect(Buffer.from(await (await openai.files.content(id)).arrayBuffer()).equals(bytes)).toBe(true);
    // A client that lost the answer asks again.
    const again = await openai.uploads.complete(upload.id, { part_ids: inOrder });
    expect(again.file?.id).toBe(id);
    expect(await readUsage()).toEqual({ files: before.files + 1, bytes: before.bytes + bytes.length });
    const listed = await Array.fromAsync(openai.files.list());
    expect(listed.map((file) => file.id)).toContain(id);
    await openai.files.delete(id);
    expect(await readUsage()).toEqual(before);
    const text = JSON.stringify([upload, parts, done]);
    for (const name of ["_UP", "file-UP"]) expect(text).not.toContain(name);
  });

  it("ends with its cancellation, which frees its room", async () => {
    const openai = client(tenants.mine);
    const before = await readUsage();
    const upload = await begin(openai, 100);
    expect((await readUsage()).bytes).toBe(before.bytes + 100);
    await openai.uploads.parts.create(upload.id, { data: await toFile(Buffer.alloc(60), "part") });
    expect(await openai.uploads.cancel(upload.id)).toMatchObject({ id: upload.id, status: "cancelled" });
    expect(await readUsage()).toEqual(before);
    await expect(openai.uploads.cancel(upload.id)).rejects.toMatchObject({ status: 404 });
    const rows = tenants.gateway.database.db.selectFrom("upstream_objects").select("id").where("kind", "!=", "file");
    expect(await rows.where("name", "=", upload.id).execute()).toEqual([]);
  });

  it("takes no more bytes than it announced, no parts of others, and none after its end", async () => {
    const openai = client(tenants.mine);
    const upload = await begin(openai, 100);
    const other = await begin(openai, 10);
    const large = openai.uploads.parts.create(upload.id, { data: await toFile(Buffer.alloc(101), "part") });
    await expect(large).rejects.toMatchObject({ status: 413 });
    const part = await openai.uploads.parts.create(upload.id, { data: await toFile(Buffer.alloc(100), "part") });
    const more = openai.uploads.parts.create(upload.id, { data: await toFile(Buffer.alloc(1), "part") });
    await expect(more).rejects.toMatchObject({ status: 400, param: "data" });
    await expect(openai.uploads.complete(other.id, { part_ids: [part.id] })).rejects.toMatchObject({
      status: 404,
      param: "part_ids",
    });
    await expect(openai.uploads.complete(upload.id, { part_ids: [] })).rejects.toMatchObject({ status: 400 });
    await openai.uploads.complete(upload.id, { part_ids: [part.id] });
    const late = openai.uploads.parts.create(upload.id, { data: await toFile(Buffer.alloc(1), "part") });
    await expect(late).rejects.toMatchObject({ status: 400 });
    await expect(openai.uploads.cancel(upload.id)).rejects.toMatchObject({ status: 400 });
  });

  it("is unknown to other users", async () => {
    const upload = await begin(client(tenants.mine), 100);
    const foreign = client(tenants.theirs);
    const data = await toFile(Buffer.alloc(1), "part");
    const errors = await Promise.all(
      [upload.id, "upload_unknown"].flatMap((id) => [
        foreign.uploads.parts.create(id, { data }).catch((error: unknown) => error),
        foreign.uploads.complete(id, { part_ids: ["part_x"] }).catch((error: unknown) => error),
        foreign.uploads.cancel(id).catch((error: unknown) => error),
      ]),
    );
    for (const error of errors) expect(error).toMatchObject({ status: 404, code: "object_not_found" });
  });

  it.each([
    [{ bytes: 0 }, "bytes", 400],
    [{ bytes: 1.5 }, "bytes", 400],
    [{ bytes: 1024 ** 4 }, "bytes", 413],
    [{ filename: "" }, "filename", 400],
    [{ purpose: 7 }, "purpose", 400],
  ])("is refused with %j", async (more, param, status) => {
    const { gateway, mine } = tenants;
    const asked = { bytes: 10, filename: "a", mime_type: "text/plain", purpose: "user_data", ...more };
    const response = await gateway.post("/v1/uploads", asked, mine);
    expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([
      status,
      param,
    ]);
    expect(gateway.upstream.requests).toEqual([]);
  });

  it("expires with its vendor's, and gives its room back", async () => {
    const { gateway, mine } = tenants;
    const upload = await begin(client(mine), 100);
    await gateway.database.db
      .updateTable("upstream_objects")
      .set({ expires_at: 1 })
      .where("id", "=", upload.id)
      .execute();
    const late = client(mine).uploads.parts.create(upload.id, { data: await toFile(Buffer.alloc(1), "part") });
    await expect(late).rejects.toMatchObject({ status: 404 });
  });

  it("needs a channel that takes parts", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("only-groq", { type: 1001 });
    const asked = { bytes: 10, filename: "a", mime_type: "text/plain", purpose: "user_data" };
    const headers = { authorization: `Bearer ${mine}`, "content-type": "application/json" };
    const response = await gateway.post("/v1/uploads", asked, mine, {
      headers: { ...headers, "x-fairway-model": "only-groq" },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("send the whole file to /v1/files");
  });
});
