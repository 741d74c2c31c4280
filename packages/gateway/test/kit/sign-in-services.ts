import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** GitHub, the WeChat server and the human check in one; every answer can be replaced. */
export interface SignInServices {
  readonly url: string;
  readonly answers: Map<string, { status?: number; body: unknown } | "hang up">;
  readonly seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
  close(): Promise<void>;
}

export async function startSignInServices(): Promise<SignInServices> {
  const answers: SignInServices["answers"] = new Map();
  const seen: SignInServices["seen"] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      const answer = answers.get(url.split("?")[0] ?? "");
      if (answer === "hang up") return void request.socket.destroy();
      const { status = 200, body = { message: "unexpected" } } = answer ?? {};
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url, answers, seen, close };
}
