import { afterEach, describe, expect, it } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
afterEach(() => relay.gateway.upstream.reset());

const ask = (model: string, more: object = {}) =>
  relay.gateway.post("/v1/responses", { model, input: "hi", ...more }, relay.key);
const paths = () => relay.gateway.upstream.requests.map(({ path }) => path);

describe("a server with chat and without Responses", () => {
  it.each([
    [
      "404",
      { status: 404, body: { error: { message: "Invalid URL (POST /v1/responses)", type: "invalid_request_error" } } },
    ],
    ["405", { status: 405, body: "Method Not Allowed" }],
  ])("gets chat calls after its first %s, which the health of the channel shows", async (name, refusal) => {
    const model = `plain-${name}`;
    const id = await relay.gateway.channel(model);
    relay.gateway.upstream.script("/responses", () => refusal);
    for (const stream of [false, true, false]) {
      const response = await ask(model, { stream });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('"response"');
    }
    expect(paths().filter((path) => path.endsWith("/responses"))).toHaveLength(1);
    expect(paths().filter((path) => path.endsWith("/chat/completions"))).toHaveLength(3);
    const { data } = (await (
      await fetch(`${relay.gateway.url}/api/channel/health`, { headers: relay.gateway.root.headers })
    ).json()) as { data: object[] };
    expect(data).toContainEqual(expect.objectContaining({ channel_id: id, state: "chat-only" }));
  });

  it("is not assumed because a model is unknown", async () => {
    await relay.gateway.channel("unknown-there");
    relay.gateway.upstream.script("/responses", () => ({
      status: 404,
      body: { error: { message: "The model `x` does not exist", code: "model_not_found" } },
    }));
    expect((await ask("unknown-there")).status).toBe(404);
    expect(paths()).toHaveLength(1);
  });

  // @weakness Exhaustion: A client that names an unknown item switches the Responses API of a channel off for everyone.
  it.each([
    "Item with id 'rs_abc' not found. Items are not persisted when `store` is set to false.",
    "Conversation with id 'conv_1' not found.",
    "File with id 'file-1' not found.",
  ])("is not assumed because of: %s", async (message) => {
    const model = `item-${message.length}`;
    const id = await relay.gateway.channel(model);
    relay.gateway.upstream.script("/responses", () => ({
      status: 404,
      body: { error: { message, type: "invalid_request_error", param: "input", code: null } },
    }));
    expect((await ask(model)).status).toBe(404);
    expect(paths()).toHaveLength(1);
    const { data } = (await (
      await fetch(`${relay.gateway.url}/api/channel/health`, { headers: relay.gateway.root.headers })
    ).json()) as { data: object[] };
    expect(data).not.toContainEqual(expect.objectContaining({ channel_id: id, state: "chat-only" }));
  });

  it.each([
    ["json", { status: 404, body: { detail: "Not Found" } }],
    ["page", { status: 404, headers: { "content-type": "text/html" }, body: "<html>404 Not Found</html>" }],
    ["text", { status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found\n" }],
  ])("is recognized by a bare 404 as %s", async (name, refusal) => {
    await relay.gateway.channel(`bare-${name}`);
    relay.gateway.upstream.script("/responses", () => refusal);
    expect((await ask(`bare-${name}`)).status).toBe(200);
  });
});
