import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { collect, sendCall } from "./collected-answer.ts";
import { createUpstreams } from "./upstream.ts";

const PIECE = "x".repeat(4_096);
const CHUNK = `${PIECE.length.toString(16)}\r\n${PIECE}\r\n`;
const CHUNKS = 12;

test("a quick reader of an answer that stops within a chunk leaves the process its turns", async () => {
  const text = CHUNK.repeat(CHUNKS);
  const cut = text.length - 2_000;
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${text.slice(0, cut)}`);
      setTimeout(() => socket.end(`${text.slice(cut)}0\r\n\r\n`), 100);
    });
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const call = { method: "GET", url: new URL(`http://127.0.0.1:${port}/`), headers: {}, body: undefined } as const;
    const upstreams = createUpstreams({ connectTimeoutMs: 1_000, keepAliveMs: 1_000 });
    const timeouts = { headersMs: 5_000, idleMs: 5_000 };
    const signal = new AbortController().signal;
    const answer = await sendCall(upstreams, call, { proxy: undefined, timeouts, signal });
    expect((await collect(answer, 1_000_000)).body.toString()).toBe(PIECE.repeat(CHUNKS));
  } finally {
    server.close();
  }
});
