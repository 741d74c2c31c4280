// The upstream of the bench, a process of its own: a plain answer of about 600 bytes with usage, or a stream of chunks
// of about 250 bytes, each its own write. The model's name says which: `bench-plain`, `bench-51-0`, `bench-200-100`
// (chunks, milliseconds between them). Costs a few microseconds a call, so it is never the limit.
import { createServer, type ServerResponse } from "node:http";

const TEXT = "The quick brown fox jumps over the lazy dog and runs away. ".repeat(4);
const USAGE = { prompt_tokens: 250, completion_tokens: 51, total_tokens: 301 };

const plain = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1_780_000_000,
    model: "bench-plain",
    choices: [
      { index: 0, message: { role: "assistant", content: TEXT, refusal: null }, logprobs: null, finish_reason: "stop" },
    ],
    usage: USAGE,
    system_fingerprint: "fp_bench",
  }),
);

const event = (choices: readonly object[], extra: object) =>
  Buffer.from(
    `data: ${JSON.stringify({
      id: "chatcmpl-bench-0123456789abcdef",
      object: "chat.completion.chunk",
      created: 1_780_000_000,
      model: "bench-stream",
      service_tier: "default",
      system_fingerprint: "fp_bench",
      choices,
      ...extra,
    })}\n\n`,
  );
const chunk = event([{ index: 0, delta: { content: " word" }, logprobs: null, finish_reason: null }], {
  obfuscation: "abcdefgh",
});
const last = event([], { usage: USAGE });
const done = Buffer.from("data: [DONE]\n\n");

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const stream = /"model":\s*"bench-(\d+)-(\d+)"/.exec(Buffer.concat(parts).toString("latin1"));
    if (stream) return streamAnswer(response, Number(stream[1]), Number(stream[2]));
    response.writeHead(200, { "content-type": "application/json", "content-length": plain.length }).end(plain);
  });
});

function streamAnswer(response: ServerResponse, chunks: number, delayMs: number): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const finish = () => {
    write(response, last);
    response.end(done);
  };
  if (delayMs === 0) {
    for (let i = 0; i < chunks; i++) write(response, chunk);
    return finish();
  }
  let sent = 0;
  const timer = setInterval(() => {
    write(response, chunk);
    if (++sent < chunks) return;
    clearInterval(timer);
    finish();
  }, delayMs);
  response.once("close", () => clearInterval(timer));
}

/** One write to the socket for each chunk: without it, all that is written in one turn leaves together. */
function write(response: ServerResponse, bytes: Buffer): void {
  response.write(bytes);
  response.uncork();
  response.socket?.uncork();
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address && typeof address === "object") process.send?.({ port: address.port });
});
process.once("disconnect", () => process.exit());
