// Calls about stored responses that the client or the upstream breaks off.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const MODEL = "stored-upstream";
const JSON_HEAD = { "content-type": "application/json" };
const STORED = { id: "resp_ends", object: "response", status: "completed", model: MODEL, output: [] };
const BEGUN = "event: response.created\ndata: {}\n\n";

let answer: (response: ServerResponse) => void = (response) => {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  response.writeHead(200, JSON_HEAD).end(JSON.stringify({ ...STORED, usage }));
};
const upstream = createServer((request, response) => {
  request.resume().once("end", () => answer(response));
});

beforeAll(async () => {
  await once(upstream.listen(0, "127.0.0.1"), "listening");
  await relay.gateway.channel(MODEL, { base_url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` });
  await relay.gateway.post("/v1/responses", { model: MODEL, input: "hi" }, relay.key);
});
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});

const ask = (signal: AbortSignal | null = null) =>
  fetch(`${relay.gateway.url}/v1/responses/${STORED.id}?stream=true`, {
    headers: { authorization: `Bearer ${relay.key}` },
    signal,
  });

/** Returns the line of the process log about this answer. */
async function loggedFailure(response: Response): Promise<unknown> {
  const id = response.headers.get("x-request-id") ?? "";
  const lines = () => relay.gateway.logLines().split("\n");
  const find = () => lines().find((line) => line.includes(id));
  for (let turn = 0; turn < 100 && find() === undefined; turn++) await sleep(20);
  return JSON.parse(find() ?? "{}");
}

it("a client that leaves in the middle is not logged as an internal error", async () => {
  answer = (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).write(BEGUN);
  const leaving = new AbortController();
  const response = await ask(leaving.signal);
  leaving.abort();
  expect(await loggedFailure(response)).toMatchObject({ code: "client_closed_request", outcome: "client_abort" });
});

it("an upstream that breaks off in the middle is logged as the cause", async () => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(BEGUN);
    setTimeout(() => response.destroy(), 50);
  };
  const response = await ask();
  await expect(response.text()).rejects.toThrow();
  expect(await loggedFailure(response)).toMatchObject({ code: "upstream_stream_interrupted" });
});

it.each([
  ["is long", (response: ServerResponse) => void response.end(`no ${"x".repeat(200_000)}`)],
  ["is cut", (response: ServerResponse) => void response.write("no", () => setTimeout(() => response.destroy(), 50))],
])("a refusal that %s keeps its status", async (_what, refuse) => {
  answer = (response) => refuse(response.writeHead(404, JSON_HEAD));
  const response = await ask();
  expect(response.status).toBe(404);
  expect((await readError(response)).code).not.toBe("internal_error");
});
