import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

export interface HttpProxySettings {
  /** Local ports by the `host:port` that clients name; other targets are refused. */
  readonly routes: Readonly<Record<string, number>>;
  /** `user:password` that clients have to send. */
  readonly login?: string;
}

/** An HTTP proxy: tunnels by `CONNECT`, and forwarded calls. It alone can resolve the names of its routes. */
export interface HttpProxy {
  readonly port: number;
  /** Each target so far: `CONNECT host:port`, or a method with the whole address. */
  readonly asked: string[];
  stop(): Promise<void>;
}

export async function startHttpProxy({ routes, login }: HttpProxySettings): Promise<HttpProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString("base64")}`;
  const isAllowed = ({ headers }: IncomingMessage) => wanted === undefined || headers["proxy-authorization"] === wanted;
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    forward(request, response, isAllowed(request) ? routes : undefined);
  });
  server.on("connect", (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url ?? ""}`);
    const port = routes[request.url ?? ""];
    if (!isAllowed(request)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    if (port === undefined) return void socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  routes: HttpProxySettings["routes"] | undefined,
): void {
  const url = URL.parse(request.url ?? "");
  const port = url ? routes?.[`${url.hostname}:${url.port || "80"}`] : undefined;
  if (!url || port === undefined) return void response.writeHead(routes ? 503 : 407).end();
  const { "proxy-authorization": _, ...headers } = request.headers;
  const path = url.pathname + url.search;
  const onward = httpRequest({ host: "127.0.0.1", port, method: request.method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  request.pipe(onward);
}
