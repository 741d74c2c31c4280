// The upstream of the bench, a process of its own: a plain answer of about 600 bytes with usage, or a stream of chunks
// of about 250 bytes, each its own write. The model's name says which: `bench-plain`, `bench-51-0`, `bench-200-100`
// (chunks, milliseconds between them). Two more words may follow: `-stamped` (each chunk says when it was sent, in
// milliseconds since the epoch), `-silent` (1 KiB of words a chunk, no usage at the end) and
// `-resting4` (after each fifth all four streams wait for each other, tell the parent, and continue when it says so).
// Costs a few microseconds a call, so it is never the limit.
import { createServer, type ServerResponse } from "node:http";

const resting: (() => void)[] = [];

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
const formatWords = (content: string) =>
  event([{ index: 0, delta: { content }, logprobs: null, finish_reason: null }], {});
const stamped = () => formatWords(`@${(performance.timeOrigin + performance.now()).toFixed(3)}@`);
const words = formatWords("plain words that an encoder has to count, ".repeat(25));
const last = event([], { usage: USAGE });
const done = Buffer.from("data: [DONE]\n\n");

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const stream = /"model":\s*"bench-(\d+)-(\d+)(?:-(stamped|silent|resting\d+))?/.exec(
      Buffer.concat(parts).toString("latin1"),
    );
    if (stream) return void streamAnswer(response, Number(stream[1]), Number(stream[2]), stream[3]);
    response.writeHead(200, { "content-type": "application/json", "content-length": plain.length }).end(plain);
  });
});

async function streamAnswer(response: ServerResponse, chunks: number, delayMs: number, kind = ""): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const next = () => (kind === "stamped" ? stamped() : kind === "silent" ? words : chunk);
  const end = () => {
    if (kind !== "silent") write(response, last);
    response.end(done);
  };
  if (delayMs === 0) {
    const group = Number(/^resting(\d+)$/.exec(kind)?.[1] ?? 0);
    const rest = group > 0 ? Math.ceil(chunks / 5) : Infinity;
    for (let i = 1; i <= chunks && !response.destroyed; i++) {
      if (!write(response, next())) await drained(response);
      if (i % rest === 0 && i < chunks) await restWith(group);
    }
    return end();
  }
  let sent = 0;
  const timer = setInterval(() => {
    write(response, next());
    if (++sent < chunks) return;
    clearInterval(timer);
    end();
  }, delayMs);
  response.once("close", () => clearInterval(timer));
}

/** Resolves when this many streams are resting and the parent lets them continue. */
async function restWith(group: number): Promise<void> {
  const rested = new Promise<void>((resolve) => void resting.push(resolve));
  if (resting.length === group) process.send?.({ resting: group });
  await rested;
}

process.on("message", () => {
  for (const wake of resting.splice(0)) wake();
});

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    if (!response.writableNeedDrain || response.destroyed) return resolve();
    response.on("drain", done).on("close", done);
  });
}

/**
 * Makes one write to the socket for each chunk: otherwise everything that is written in one turn would be sent
 * together.
 */
function write(response: ServerResponse, bytes: Buffer): boolean {
  const isTaken = response.write(bytes);
  response.uncork();
  response.socket?.uncork();
  return isTaken;
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address && typeof address === "object") process.send?.({ port: address.port });
});
process.once("disconnect", () => process.exit());
