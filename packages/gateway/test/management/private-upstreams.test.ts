import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

let gateway: RelayApp;
beforeAll(async () => {
  gateway = await startRelayApp({ FAIRWAY_BLOCK_PRIVATE_UPSTREAMS: "true" });
});
afterAll(() => gateway?.close());

// @weakness Injection and parsing: Addresses of channels lead where the operator did not mean
it("a channel whose name leads to a private address is not reached, and the client learns nothing", async () => {
  const { port } = new URL(gateway.upstream.url);
  await gateway.channel("at-localhost", { base_url: `http://localhost:${port}` });
  const body = { model: "at-localhost", messages: [{ role: "user", content: "Hi" }] };
  const response = await gateway.post("/v1/chat/completions", body, await gateway.token());
  expect(response.status).toBe(502);
  expect(await response.text()).not.toMatch(/127|localhost|::1|private/);
  expect(gateway.upstream.requests).toHaveLength(0);
});

// @weakness Injection and parsing: A channel at a private address is saved and refused only when it is called
it.each(["127.0.0.1", "[::1]"])("a channel at %s is refused when it is saved", async (host) => {
  const { port } = new URL(gateway.upstream.url);
  const saved = gateway.channel("at-address", { base_url: `http://${host}:${port}` });
  await expect(saved).rejects.toThrow("base_url leads to an address that channels may not call");
});
