import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const REFUSAL = {
  error: { message: "Unrecognized request argument supplied: stream_options", type: "invalid_request" },
};
const CHUNK = { id: "1", object: "chat.completion.chunk", model: "m", created: 1 };
const ANSWER = [
  { ...CHUNK, choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }] },
  { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
];

/** Starts an older server of the OpenAI protocol, which has no switch for usage in streams. */
function startOldServer(): Promise<{ readonly url: string; readonly asked: boolean[]; readonly server: Server }> {
  const asked: boolean[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const hasSwitch = "stream_options" in (JSON.parse(body) as object);
      asked.push(hasSwitch);
      response.writeHead(hasSwitch ? 400 : 200, {
        "content-type": hasSwitch ? "application/json" : "text/event-stream",
      });
      if (hasSwitch) response.end(JSON.stringify(REFUSAL));
      else
        response.end(
          [...ANSWER.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""),
        );
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server });
    });
  });
}

let gateway: RelayApp;
let key: string;
const servers: Server[] = [];

async function oldServer(model: string): Promise<boolean[]> {
  const { url, asked, server } = await startOldServer();
  servers.push(server);
  await gateway.channel(model, { base_url: url });
  return asked;
}

beforeAll(async () => {
  gateway = await startRelayApp();
  key = await gateway.token();
});
afterAll(async () => {
  for (const server of servers) server.close();
  await gateway?.close();
});

const messages = [{ role: "user", content: "Hello" }];

it("repeats the call without the usage option on a server that rejects it, and omits it from then on", async () => {
  const asked = await oldServer("old-chat");
  for (const count of [2, 3]) {
    const response = await gateway.post("/v1/chat/completions", { model: "old-chat", messages, stream: true }, key);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/"content":"Hi"[^]*data: \[DONE\]\n\n$/);
    expect(asked).toHaveLength(count);
  }
  expect(asked).toEqual([true, false, false]);
});

it("does the same for clients of other protocols, which get counted usage", async () => {
  const asked = await oldServer("old-messages");
  const body = { model: "old-messages", max_tokens: 9, messages, stream: true };
  const response = await gateway.post("/v1/messages", body, key);
  expect(await response.text()).toMatch(/"type":"message_delta"[^]*"output_tokens":[1-9]/);
  expect(asked).toEqual([true, false]);
});

it("returns the error to a client that requested usage itself", async () => {
  const asked = await oldServer("old-asked");
  const body = { model: "old-asked", messages, stream: true, stream_options: { include_usage: true } };
  const response = await gateway.post("/v1/chat/completions", body, key);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("stream_options");
  expect(asked).toEqual([true]);
});
