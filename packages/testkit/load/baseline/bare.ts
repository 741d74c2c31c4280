// The least that a gateway in Node costs: its own server, the client library that Fairway uses, and bytes that pass
// through. It checks no key, and parses, counts and logs nothing.
import { createServer, type ServerResponse } from "node:http";
import { Pool, type Dispatcher } from "undici";

const pool = new Pool(process.env["BENCH_UPSTREAM"] ?? "", { pipelining: 1 });
const HEADERS = { "content-type": "application/json", authorization: "Bearer upstream-key" };

class Pass implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    const { "content-type": type, "content-length": length } = headers as Record<string, string | undefined>;
    this.#response.writeHead(status, {
      "content-type": type ?? "application/json",
      ...(length !== undefined && { "content-length": length }),
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#response.write(chunk);
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(): void {
    this.#response.destroy();
  }
}

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const call = { path: request.url ?? "/", method: "POST" as const, headers: HEADERS, body: Buffer.concat(pieces) };
    pool.dispatch(call, new Pass(response));
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address && typeof address === "object") process.send?.({ port: address.port });
});
process.once("disconnect", () => process.exit());
