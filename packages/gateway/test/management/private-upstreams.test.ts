import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

let gateway: RelayApp;
beforeAll(async () => {
  gateway = await startRelayApp({ FAIRWAY_BLOCK_PRIVATE_UPSTREAMS: "true" });
});
afterAll(() => gateway?.close());

// @weakness Injection and parsing: Addresses of channels lead where the operator did not mean
it.each(["127.0.0.1", "localhost", "[::1]"])(
  "a channel at %s is not reached, and the client learns nothing",
  async (host) => {
    const model = `at-${host.replaceAll(/\W/g, "")}`;
    const { port } = new URL(gateway.upstream.url);
    await gateway.channel(model, { base_url: `http://${host}:${port}` });
    const body = { model, messages: [{ role: "user", content: "Hi" }] };
    const response = await gateway.post("/v1/chat/completions", body, await gateway.token());
    expect(response.status).toBe(502);
    expect(await response.text()).not.toMatch(/127|localhost|::1|private/);
    expect(gateway.upstream.requests).toHaveLength(0);
  },
);
