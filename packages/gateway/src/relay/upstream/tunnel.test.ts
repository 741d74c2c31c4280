import { createCertificates } from "@fairway/testkit/services/certificates";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect, type AddressInfo, type Server as NetServer } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import { TunnelAgent } from "./tunnel.ts";

const trusted = getCACertificates("default");
const servers: NetServer[] = [];
let proxy: Server;
let asked: string[] = [];
let answer = "HTTP/1.1 200 Connection established\r\n\r\n";

async function listenOnFreePort(server: NetServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  proxy = createServer().on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    if (!answer.includes(" 200 ")) return void socket.end(answer);
    const onward = connect(Number((request.url ?? "").split(":")[1]), "127.0.0.1", () => {
      socket.write(answer);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  await listenOnFreePort(proxy);
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  for (const server of servers) server.close();
});

function greeting(server: NetServer): void {
  new WebSocketServer({ server: server as Server }).on("connection", (socket) => socket.send("hello"));
}

function open(url: string, isSecure: boolean): Promise<string> {
  const via = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const socket = new WebSocket(url, { agent: new TunnelAgent(via, { isSecure, timeoutMs: 1_000 }) });
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("message", (data: Buffer) => {
      socket.close();
      resolve(data.toString("utf8"));
    });
  });
}

describe("a tunnel through a proxy", () => {
  it("carries plain and encrypted WebSockets, and verifies the host behind it", async () => {
    asked = [];
    const plain = createServer();
    greeting(plain);
    const plainPort = await listenOnFreePort(plain);
    expect(await open(`ws://localhost:${plainPort}/x`, false)).toBe("hello");
    const { ca, cert, key } = await createCertificates();
    const secure = createSecureServer({ cert: await readFile(cert), key: await readFile(key) });
    greeting(secure);
    const securePort = await listenOnFreePort(secure);
    await expect(open(`wss://localhost:${securePort}/x`, true)).rejects.toThrow(/certificate/);
    setDefaultCACertificates([...trusted, await readFile(ca, "utf8")]);
    expect(await open(`wss://localhost:${securePort}/x`, true)).toBe("hello");
    expect(asked).toEqual([plainPort, securePort, securePort].map((port) => `localhost:${port}`));
    expect(await open(`wss://127.0.0.1:${securePort}/x`, true)).toBe("hello");
    await expect(open(`wss://127.0.0.2:${securePort}/x`, true)).rejects.toThrow(/altnames/);
  });

  it("fails as a connection when the proxy refuses", async () => {
    answer = "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
    await expect(open("wss://localhost:1/x", true)).rejects.toThrow("the proxy answered with status 407");
  });
});
