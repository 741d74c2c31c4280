import { once } from "node:events";
import type { AddressInfo } from "node:net";
import WebSocket, { WebSocketServer } from "ws";

export interface VoiceEvent {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** The upstream's end of one session. */
interface VoiceSession {
  readonly socket: WebSocket;
  /** What the gateway sent, oldest first. */
  readonly received: VoiceEvent[];
  send(event: VoiceEvent | string): void;
  /** The next event of this type that has not been waited for. */
  heard(type: string): Promise<VoiceEvent>;
}

/** An upstream of realtime sessions whose answers a test writes. */
export interface VoiceUpstream {
  readonly url: string;
  readonly sessions: VoiceSession[];
  /** Answers each event of the gateway. */
  onEvent: (event: VoiceEvent, session: VoiceSession) => void;
  close(): void;
}

export async function startVoiceUpstream(): Promise<VoiceUpstream> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const upstream: VoiceUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions: [],
    onEvent: () => undefined,
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
  server.on("connection", (socket) => {
    const session = sessionOn(socket);
    upstream.sessions.push(session);
    socket.on("message", (data: Buffer) => {
      const event = JSON.parse(data.toString("utf8")) as VoiceEvent;
      session.received.push(event);
      upstream.onEvent(event, session);
      socket.emit("event");
    });
    session.send({ type: "session.created", session: { id: "sess_1" } });
  });
  return upstream;
}

function sessionOn(socket: WebSocket): VoiceSession {
  const received: VoiceEvent[] = [];
  let waitedFor = 0;
  return {
    socket,
    received,
    send: (event) => socket.send(typeof event === "string" ? event : JSON.stringify(event)),
    async heard(type) {
      for (;;) {
        const at = received.findIndex((event, index) => index >= waitedFor && event.type === type);
        if (at >= 0) {
          waitedFor = at + 1;
          return received[at] as VoiceEvent;
        }
        await once(socket, "event");
      }
    },
  };
}

/** A client of `/v1/realtime`, with everything that it hears. */
export async function openVoice(url: string, model: string, key: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/realtime?model=${model}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const heard: VoiceEvent[] = [];
  socket.on("message", (data: Buffer) => {
    heard.push(JSON.parse(data.toString("utf8")) as VoiceEvent);
    socket.emit("event");
  });
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await once(socket, "open");
  return {
    socket,
    heard,
    closed,
    send: (event: object) => socket.send(JSON.stringify(event)),
    async until(type: string, count = 1): Promise<void> {
      while (heard.filter((event) => event.type === type).length < count && socket.readyState === WebSocket.OPEN)
        await Promise.race([once(socket, "event"), closed]);
    },
  };
}
