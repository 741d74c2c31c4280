// An upstream for the sign-in run, in a separate process: one chunk every 10 ms that contains the time of its sending,
// so that the result is the chunk's time in the gateway and not the punctuality of this process.
import { createServer } from "node:http";

const EVERY_MS = 10;

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const timer = setInterval(() => {
    const sentAt = performance.timeOrigin + performance.now();
    const choices = [{ index: 0, delta: { content: `at ${sentAt} ` }, finish_reason: null }];
    response.write(
      `data: ${JSON.stringify({ id: "chatcmpl-gap", object: "chat.completion.chunk", created: 1, model: "gap", choices })}\n\n`,
    );
  }, EVERY_MS);
  response.once("close", () => clearInterval(timer));
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address && typeof address === "object") process.send?.({ port: address.port });
});
process.once("disconnect", () => process.exit());
