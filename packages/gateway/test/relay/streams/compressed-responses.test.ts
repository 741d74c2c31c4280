import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consumeRows, readError, splitEvents, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

const answer = {
  id: "c-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello. ".repeat(2_000) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
};
const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: "c-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;

const ENCODINGS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

let server: Server;
let baseUrl: string;

/** A server that always compresses, whatever the request; the first part of the path is the encoding. */
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    request.once("end", () => {
      const [, encoding = "", what] = (request.url ?? "").split("/");
      const compress = ENCODINGS[encoding] ?? ((body: Buffer) => body);
      const head = { "content-encoding": encoding };
      if (what === "stream") {
        response.writeHead(200, { ...head, "content-type": "text/event-stream" });
        const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
        gzip.pipe(response);
        for (const word of ["One", " two", " three"]) gzip.write(chunk({ content: word }));
        gzip.write(chunk({}, { usage: answer.usage }));
        return void gzip.end("data: [DONE]\n\n");
      }
      const status = what === "error" ? 400 : 200;
      const body = what === "error" ? { error: { message: "No such tool." } } : answer;
      const bytes = compress(Buffer.from(JSON.stringify(body)));
      response.writeHead(status, { ...head, "content-type": "application/json" });
      response.end(what === "cut" ? bytes.subarray(0, bytes.length / 2) : bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const asked = async (encoding: string, what: string, more: object = {}) => {
  const model = `${encoding}-${what}`;
  await relay.gateway.channel(model, { base_url: `${baseUrl}/${encoding}/${what}` });
  return relay.ask(model, more);
};

describe("answers that are compressed unasked", () => {
  it.each(Object.keys(ENCODINGS))("%s is decoded, counted and sent plain", async (encoding) => {
    const response = await asked(encoding, "plain");
    expect([response.status, response.headers.get("content-encoding")]).toEqual([200, null]);
    expect(await response.json()).toEqual(answer);
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 });
  });

  it("a stream is decoded event by event", async () => {
    const response = await asked("gzip", "stream", { stream: true });
    const events = splitEvents(await response.text());
    expect(events.filter((event) => /One|two|three/.test(event))).toHaveLength(3);
    expect(events.at(-1)).toBe("data: [DONE]");
  });

  it("an error keeps its reason", async () => {
    const response = await asked("gzip", "error");
    expect(response.status).toBe(400);
    expect((await readError(response))["message"]).toContain("No such tool.");
  });

  it("a cut body is an upstream failure", async () => {
    const response = await asked("gzip", "cut");
    expect(response.status).toBe(502);
    expect(await readError(response)).toMatchObject({ code: "upstream_stream_interrupted" });
  });

  it("an unknown encoding is ignored when the body is plain", async () => {
    const response = await asked("none", "plain");
    expect(await response.json()).toEqual(answer);
  });
});
