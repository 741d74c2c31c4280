import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const PNG = Buffer.from("89504e470d0a1a0a00000000", "hex");
const PICTURE = "https://pictures.example/a.png";

const looking = (model: string, url: string) => ({
  model,
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
});

beforeAll(async () => {
  await relay.gateway.option("WorkerUrl", `${relay.gateway.upstream.url}/worker`);
  await relay.gateway.option("WorkerValidKey", "worker-key");
});
afterAll(() => relay.gateway.option("WorkerUrl", ""));

describe("images by address", () => {
  it("are fetched for an upstream that takes bytes only, by the operator's worker where there is one", async () => {
    const { gateway } = relay;
    gateway.upstream.script("/worker", () => ({ headers: { "content-type": "image/png" }, body: PNG }));
    gateway.upstream.script("/api/chat", () => ({
      body: { model: "m", message: { role: "assistant", content: "a kite" }, done: true, done_reason: "stop" },
    }));
    await gateway.channel("local-vision", { type: 4 });
    const response = await gateway.post("/v1/chat/completions", looking("local-vision", PICTURE), relay.key);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "a kite" } }] });
    const [worker, upstream] = gateway.upstream.requests;
    expect(worker?.json).toEqual({ url: PICTURE, key: "worker-key" });
    expect(upstream?.json).toMatchObject({ messages: [{ role: "user", images: [PNG.toString("base64")] }] });
  });

  it("are sent as addresses to an upstream that fetches them itself", async () => {
    const { gateway } = relay;
    await gateway.channel("own-eyes");
    const body = looking("own-eyes", PICTURE);
    expect((await gateway.post("/v1/chat/completions", body, relay.key)).status).toBe(200);
    expect(gateway.upstream.requests.map(({ json }) => json)).toEqual([body]);
  });

  it("are never fetched from the gateway's own network", async () => {
    const { gateway } = relay;
    await gateway.option("WorkerUrl", "");
    await gateway.channel("local-vision", { type: 4 });
    const response = await gateway.post(
      "/v1/chat/completions",
      looking("local-vision", `${gateway.upstream.url}/secret.png`),
      relay.key,
    );
    expect(response.status).toBe(400);
    expect((await readError(response)).code).toBe("unsafe_url");
    expect(gateway.upstream.requests).toEqual([]);
  });
});
