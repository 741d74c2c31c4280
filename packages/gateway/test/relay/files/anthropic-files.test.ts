import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { useTenants } from "../../kit/tenants.ts";

const tenants = useTenants();
const CLAUDE = { type: 14 };

function client(key: string): Anthropic {
  return new Anthropic({ apiKey: key, baseURL: tenants.gateway.url, maxRetries: 0 });
}

async function store(key: string, name = "a.pdf", model = "claude-files"): Promise<string> {
  const file = await toFile(Buffer.from("%PDF-1.7\n"), name, { type: "application/pdf" });
  return (await client(key).files.upload({ file }, { headers: { "x-fairway-model": model } })).id;
}

describe("files of Anthropic's official client", () => {
  it("are uploaded, listed in pages, shown and deleted", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("claude-files", CLAUDE);
    const ids = [await store(mine, "1.pdf"), await store(mine, "2.pdf"), await store(mine, "3.pdf")];
    expect(ids[0]).toMatch(/^file_[0-9A-Za-z]{34}$/);
    const seen: string[] = [];
    for await (const file of client(mine).files.list({ limit: 2 })) seen.push(file.id);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen).toHaveLength(3);
    const [id = ""] = ids;
    expect(await client(mine).files.retrieveMetadata(id)).toMatchObject({
      id,
      type: "file",
      filename: "1.pdf",
      mime_type: "application/pdf",
      size_bytes: 9,
      downloadable: false,
    });
    const upstream = gateway.upstream.requests[0];
    expect(upstream?.headers["x-api-key"]).not.toBe(mine);
    for (const one of ids) expect(await client(mine).files.delete(one)).toEqual({ id: one, type: "file_deleted" });
    await expect(client(mine).files.retrieveMetadata(id)).rejects.toMatchObject({ status: 404 });
  });

  it("answer older clients, which page by ids, and those that name ids", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("claude-files", CLAUDE);
    const ids = [await store(mine), await store(mine), await store(mine)];
    const list = async (query: string) => {
      const answer = await fetch(`${gateway.url}/v1/files?${query}`, {
        headers: { "x-api-key": mine, "anthropic-version": "2023-06-01" },
      });
      return (await answer.json()) as { data: { id: string }[]; has_more: boolean; last_id: string; first_id: string };
    };
    const first = await list("limit=2");
    const rest = await list(`limit=2&after_id=${first.last_id}`);
    expect([first.has_more, rest.has_more]).toEqual([true, false]);
    const all = [...first.data, ...rest.data].map(({ id }) => id);
    expect(new Set(all)).toEqual(new Set(ids));
    const before = await list(`limit=2&before_id=${rest.first_id}`);
    expect(before.data.map(({ id }) => id)).toEqual(all.slice(0, 2));
    const named = await list(`ids[]=${ids[1]}&ids[]=file_unknown`);
    expect(named.data.map(({ id }) => id)).toEqual([ids[1]]);
    for (const id of ids) await client(mine).files.delete(id);
  });

  it("are named by their upstream's ids in messages, and only at the account that has them", async () => {
    const { gateway, mine, theirs } = tenants;
    await gateway.channel("claude-pinned", { ...CLAUDE, key: "sk-store" });
    const id = await store(mine, "a.pdf", "claude-pinned");
    await gateway.channel("claude-pinned", { ...CLAUDE, key: "sk-other", priority: 10 });
    const ask = (key: string) =>
      client(key).messages.create({
        model: "claude-pinned",
        max_tokens: 20,
        messages: [
          {
            role: "user",
            content: [
              { type: "document", source: { type: "file", file_id: id } },
              { type: "text", text: "Sum up" },
            ],
          },
        ],
      } as Anthropic.MessageCreateParamsNonStreaming);
    const before = gateway.upstream.requests.length;
    await ask(mine);
    const sent = gateway.upstream.requests.slice(before);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body.toString()).toMatch(/"file_id":"file_UP\d+"/);
    const first = gateway.upstream.requests.find(({ path }) => path === "/v1/files");
    expect(sent[0]?.headers["x-api-key"]).toBe(first?.headers["x-api-key"]);
    await expect(ask(theirs)).rejects.toMatchObject({ status: 404 });
    expect(gateway.upstream.requests).toHaveLength(before + 1);
  });

  it("tell that a file has expired, and how full the store is", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("claude-files", CLAUDE);
    const id = await store(mine);
    await gateway.database.raw.run("update upstream_objects set expires_at = 5 where id = ?", [id]);
    await expect(client(mine).files.retrieveMetadata(id)).rejects.toMatchObject({
      status: 404,
      error: { error: { type: "not_found_error", details: { error_code: "file_expired" } } },
    });
    await gateway.option("FileGroupQuotas", JSON.stringify({ default: { count: 1 } }));
    await store(mine).catch(() => undefined);
    await expect(store(mine)).rejects.toMatchObject({
      status: 400,
      error: { error: { type: "invalid_request_error", details: { error_code: "storage_quota_exceeded" } } },
    });
    await gateway.option("FileGroupQuotas", "{}");
  });
});
