import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BodyMemory } from "../../limits/body-memory.ts";
import { jsonBody, readJson } from "./read-body.ts";

const limits = {
  maxBytes: 10_000,
  maxDecodedBytes: 50_000,
  minBytesPerSecond: 1024,
  maxJsonBytes: 60_000,
  memory: new BodyMemory(0),
};
const server = createServer((request, response) => {
  readJson(request, limits).then(
    ({ bytes }) => response.end(bytes),
    (error: { status: number; code: string }) =>
      response.writeHead(error.status, { connection: "close" }).end(error.code),
  );
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

function post(body: Buffer, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", method: "POST", headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("readJson", () => {
  it.each([
    ["identity", Buffer.from("{}")],
    ["gzip", gzipSync("{}")],
    ["br", brotliCompressSync("{}")],
    ["zstd", zstdCompressSync("{}")],
  ])("decodes %s", async (encoding, body) => {
    expect(await post(body, { "content-encoding": encoding })).toEqual({ status: 200, text: "{}" });
  });

  it("refuses a body over the limit by its declared and by its real length", async () => {
    expect(await post(Buffer.alloc(10_001))).toEqual({ status: 413, text: "request_too_large" });
    expect(await post(Buffer.alloc(10_001), { "transfer-encoding": "chunked" })).toEqual({
      status: 413,
      text: "request_too_large",
    });
  });

  it("stops a decompression bomb while it unfolds", async () => {
    expect(await post(gzipSync(Buffer.alloc(5_000_000)), { "content-encoding": "gzip" })).toEqual({
      status: 413,
      text: "request_too_large",
    });
  });

  it("refuses JSON that nests too deep before it is parsed", async () => {
    const deep = Buffer.from(`{"a":${"[".repeat(200)}${"]".repeat(200)}}`);
    expect(await post(deep)).toEqual({ status: 400, text: "invalid_json" });
  });

  it("checks JSON whatever its content type says", async () => {
    const deep = Buffer.from(`{"a":${"[".repeat(200)}${"]".repeat(200)}}`);
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    expect(await post(deep, headers)).toEqual({ status: 400, text: "invalid_json" });
  });

  it("names an unknown encoding, and a body that does not match its encoding", async () => {
    expect(await post(Buffer.from("{}"), { "content-encoding": "lzw" })).toEqual({
      status: 415,
      text: "unsupported_encoding",
    });
    expect(await post(Buffer.from("{}"), { "content-encoding": "gzip" })).toEqual({
      status: 400,
      text: "invalid_encoding",
    });
  });
});

describe("jsonBody", () => {
  it.each([
    ["", "the body is empty"],
    ['{"a":}', "unexpected text"],
    ['{"a":1', "unexpected"],
    ["[1]", "the body must be a JSON object"],
  ])("%s", (text, reason) => {
    expect(() => jsonBody(Buffer.from(text)).json()).toThrow(
      expect.objectContaining({
        code: "invalid_json",
        status: 400,
        message: expect.stringContaining(reason) as string,
      }),
    );
  });

  it("never quotes the body", () => {
    const thrown = (() => {
      try {
        jsonBody(Buffer.from('{"prompt": secret-prompt}')).json();
      } catch (error) {
        return String(error);
      }
      return "";
    })();
    expect(thrown).toContain("not valid JSON");
    expect(thrown).not.toContain("secret");
  });
});
