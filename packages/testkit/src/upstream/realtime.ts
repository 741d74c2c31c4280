import type { Server } from "node:http";
import { WebSocketServer, type WebSocket } from "ws";

const USAGE = {
  total_tokens: 30,
  input_tokens: 20,
  output_tokens: 10,
  input_token_details: { text_tokens: 20, audio_tokens: 0, cached_tokens: 0 },
  output_token_details: { text_tokens: 10, audio_tokens: 0 },
};

/**
 * `GET /v1/realtime`: greets, answers `response.create` with a short text and usage, breaks off at `cut-response`,
 * sends the content of `emit`, and echoes binary frames.
 */
export function attachRealtime(server: Server): void {
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has("realtime") ? "realtime" : false),
  });
  server.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url ?? "/", "http://upstream");
    if (!url.pathname.endsWith("/realtime"))
      return void socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n");
    const status = /^status-(\d{3})$/.exec(url.searchParams.get("model") ?? "")?.[1];
    if (status) return void socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (client) => converse(client));
  });
  server.on("close", () => sockets.close());
}

function converse(client: WebSocket): void {
  const send = (event: object) => client.send(JSON.stringify(event));
  send({ type: "session.created", event_id: "event_1", session: { id: "sess_fake" } });
  client.on("message", (data: Buffer, isBinary: boolean) => {
    if (isBinary) return client.send(data, { binary: true });
    const event = JSON.parse(data.toString("utf8")) as { type?: string; event?: object };
    if (event.type === "emit") return send(event.event ?? {});
    if (event.type === "close-1008") return client.close(1008, "policy");
    if (event.type === "cut-response") {
      send({ type: "response.output_text.delta", response_id: "resp_fake", delta: "Hello to a listener" });
      return client.terminate();
    }
    if (event.type !== "response.create") return send({ type: "echo", event });
    const response = { id: "resp_fake", object: "realtime.response" };
    send({ type: "response.created", response: { ...response, status: "in_progress" } });
    send({ type: "response.output_text.delta", response_id: response.id, delta: "Hello" });
    send({ type: "response.done", response: { ...response, status: "completed", usage: USAGE } });
  });
}
