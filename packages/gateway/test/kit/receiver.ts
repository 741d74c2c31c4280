import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, received: Received) => void;

/** A server that keeps what it gets. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** How it answers from now on; default: 204. */
  answer: Answer;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "", headers } = request;
      const one = { path, headers, body: Buffer.concat(chunks).toString("utf8") };
      received.push(one);
      receiver.answer(response, one);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (response) => response.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return receiver;
}
