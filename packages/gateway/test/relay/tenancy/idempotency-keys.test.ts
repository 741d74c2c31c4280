import { describe, expect, it } from "vitest";
import { chat } from "../../kit/relay-app.ts";
import { useTenants } from "../../kit/tenants.ts";

const tenants = useTenants();
const KEY = "order-1";

async function sent(key: string, path = "/v1/chat/completions", body: object = chat("shared")): Promise<unknown> {
  tenants.gateway.upstream.reset();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": KEY };
  await (await tenants.gateway.post(path, body, key, { headers })).text();
  return tenants.gateway.upstream.requests[0]?.headers["idempotency-key"];
}

// @weakness Sessions and permissions: Two users' equal Idempotency-Key at a shared upstream account is answered with one user's text
describe("an idempotency key", () => {
  it("is another one for each user at the account that they share, and the same for each try", async () => {
    await tenants.gateway.channel("shared");
    const mine = await sent(tenants.mine);
    expect(mine).toMatch(/^[0-9a-f]{40}$/);
    expect(await sent(tenants.mine)).toBe(mine);
    const theirs = await sent(tenants.theirs);
    expect(theirs).toMatch(/^[0-9a-f]{40}$/);
    expect(theirs).not.toBe(mine);
  });

  it.each([
    ["/v1/responses", { model: "shared", input: "hi" }],
    ["/v1/embeddings", { model: "shared", input: "hi" }],
    ["/v1/images/generations", { model: "shared", prompt: "a cat" }],
    ["/v1/messages", { model: "shared", max_tokens: 5, messages: [{ role: "user", content: "hi" }] }],
  ])("never travels as the client wrote it by %s", async (path, body) => {
    await tenants.gateway.channel("shared");
    expect(await sent(tenants.mine, path, body)).toMatch(/^[0-9a-f]{40}$/);
  });

  it("is not sent where the client sends none", async () => {
    await tenants.gateway.channel("shared");
    await (await tenants.gateway.post("/v1/chat/completions", chat("shared"), tenants.mine)).text();
    expect(tenants.gateway.upstream.requests[0]?.headers["idempotency-key"]).toBeUndefined();
  });
});
