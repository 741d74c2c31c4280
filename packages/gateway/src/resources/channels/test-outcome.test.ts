import { createDatabase } from "@fairway/testkit/databases";
import type { Channel } from "@fairway/wire";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

let app: ManagementApp;
let root: ApiCaller;
let server: Server;
/** Keys that the upstream accepts. */
let known: string[] = [];
let isStreamOnly = false;
let isPlainOnly = false;
let seen: string[] = [];
let id = 0;

const CHUNK = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "hi" } }] };
const ANSWER = { id: "c", object: "chat.completion", choices: [{ index: 0, message: { content: "hi" } }] };

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const key = (request.headers.authorization ?? "").slice("Bearer ".length);
      const isStream = Buffer.concat(chunks).includes('"stream":true');
      // The first test that passes also reads the list of models.
      if (request.method === "POST") seen.push(`${key}${isStream ? " stream" : ""}`);
      const refuse = (status: number, message: string) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
      if (!known.includes(key)) return void refuse(401, `no such key ${key}`);
      if (request.method === "GET") return void response.end('{"data":[{"id":"m"}]}');
      if (isStreamOnly && !isStream) return void refuse(400, "Stream must be set to true");
      if (isPlainOnly && isStream) return void refuse(403, "must be verified to stream");
      if (!isStream) return void response.end(JSON.stringify(ANSWER));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  root = await app.signIn("root");
});
afterAll(async () => {
  await app.close();
  server.close();
});

beforeEach(async () => {
  await app.database.db.deleteFrom("channels").execute();
  [seen, known, isStreamOnly, isPlainOnly] = [[], ["first-key", "second-key"], false, false];
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const form = { name: "up", type: 1, models: "m", group: "default", base_url };
  await root.data(root.post("/api/channel/", { ...form, key: "first-key\nsecond-key", multi_key: true }));
  id = (await root.data<Channel[]>(root.get("/api/channel/")))[0]?.id ?? 0;
});

const runTest = async () => (await root.get(`/api/channel/test/${id}`)).body;
const stored = async () => (await root.data<Channel[]>(root.get("/api/channel/")))[0];

test("a failed test is still a failed one after a reload, until one passes", async () => {
  known = [];
  expect(await runTest()).toMatchObject({ success: false });
  expect((await stored())?.test_error).toContain("no such key");
  expect((await stored())?.test_error).not.toContain("first-key");
  known = ["first-key", "second-key"];
  expect(await runTest()).toMatchObject({ success: true, message: "" });
  expect(await stored()).toMatchObject({ test_error: "" });
});

test("each key is tried: one that works makes a channel that works, and the others are named", async () => {
  known = ["second-key"];
  const body = await runTest();
  expect(seen).toEqual(["first-key", "second-key", "second-key stream"]);
  expect(body).toMatchObject({ success: true });
  expect(body.message).toMatch(/^key 1: no such key/);
  expect((await stored())?.test_error).toMatch(/^key 1: /);
});

test("an upstream that only streams passes by a stream", async () => {
  isStreamOnly = true;
  expect(await runTest()).toMatchObject({ success: true, message: "" });
  expect(seen).toContain("first-key stream");
});

test("a chat is streamed after its plain answer, and fails where streams do", async () => {
  expect(await runTest()).toMatchObject({ success: true, message: "" });
  expect(seen).toEqual(["first-key", "first-key stream", "second-key", "second-key stream"]);
  isPlainOnly = true;
  const body = await runTest();
  expect(body).toMatchObject({ success: false });
  expect(body.message).toMatch(/stream: must be verified to stream/);
  expect((await stored())?.test_error).toContain("stream: ");
});

test("a list of models comes with any key", async () => {
  known = ["second-key"];
  expect(await root.data(root.get(`/api/channel/fetch_models/${id}`))).toEqual(["m"]);
});
