import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** A TCP connection between two parties that a test can make slow, silent or broken. */
export interface Proxy {
  readonly port: number;
  /** The port to which new connections lead. */
  target: number;
  /** Delays the bytes of both directions by this many milliseconds. */
  delayMs: number;
  /** While true, nothing passes and nothing is lost. */
  isStalled: boolean;
  /**
   * While true, all bytes are lost. Connections that lost some stay silent permanently, like those of a host that
   * vanished.
   */
  isSilent: boolean;
  /** Cuts a connection on which the client sends this text, before the text arrives; blank cuts none. */
  cutsAt: string;
  /** Counts how often a client sent something after the other side had answered: its round trips. */
  readonly exchanges: number;
  /** Cuts all connections; new ones work as before. */
  cut(): void;
  /** While true, new connections are refused. */
  isClosed: boolean;
  stop(): Promise<void>;
}

/** Forwards a free loopback port to `target`. */
export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const state = { target, delayMs: 0, isStalled: false, isSilent: false, isClosed: false, cutsAt: "", exchanges: 0 };
  const server = createServer((client) => {
    if (state.isClosed) return void client.destroy();
    const upstream = connect(state.target, "127.0.0.1");
    let isAnswered = true;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk: Buffer) => {
      if (state.cutsAt !== "" && chunk.includes(state.cutsAt)) return void client.destroy();
      if (isAnswered) state.exchanges += 1;
      isAnswered = false;
    });
    upstream.on("data", () => (isAnswered = true));
    const way = { isCut: false };
    forward(client, upstream, state, way);
    forward(upstream, client, state, way);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return Object.assign(state, {
    port: (server.address() as AddressInfo).port,
    cut,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  });
}

const LOOK_MS = 5;

interface Conditions {
  readonly delayMs: number;
  readonly isStalled: boolean;
  readonly isSilent: boolean;
}

function forward(from: Socket, to: Socket, state: Conditions, way: { isCut: boolean }): void {
  const waiting: { readonly at: number; readonly chunk: Buffer }[] = [];
  const leave = () => {
    while (waiting[0] && !state.isStalled && waiting[0].at <= performance.now()) to.write(waiting.shift()?.chunk ?? "");
    if (waiting.length > 0)
      setTimeout(leave, state.isStalled ? LOOK_MS : Math.max(1, (waiting[0]?.at ?? 0) - performance.now()));
  };
  from.on("data", (chunk: Buffer) => {
    way.isCut ||= state.isSilent || from.destroyed;
    if (way.isCut) return;
    if (waiting.length === 0 && state.delayMs === 0 && !state.isStalled) return void to.write(chunk);
    waiting.push({ at: performance.now() + state.delayMs, chunk });
    if (waiting.length === 1) leave();
  });
}
