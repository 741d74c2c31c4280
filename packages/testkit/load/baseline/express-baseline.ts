// What most people write first: Express, its JSON parser, the built-in fetch, and JSON output.
import express from "express";

const upstream = process.env["BENCH_UPSTREAM"] ?? "";
const app = express();
app.use(express.json({ limit: "10mb" }));
app.post("/v1/chat/completions", async (request, response) => {
  const answer = await fetch(`${upstream}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer upstream-key" },
    body: JSON.stringify(request.body),
  });
  const body = request.body as { stream?: boolean };
  if (!body.stream || !answer.body) {
    response.status(answer.status).json(await answer.json());
    return;
  }
  response.status(answer.status).set("content-type", "text/event-stream");
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    response.write(value);
  }
  response.end();
});

const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address && typeof address === "object") process.send?.({ port: address.port });
});
process.once("disconnect", () => process.exit());
