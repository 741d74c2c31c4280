import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Connections break at every nth answer, after the command has run: the caller cannot know whether it did. */
const DROP_EVERY = 15;

export interface RedisProxy {
  /** `redis://127.0.0.1:<port>/0`. */
  readonly url: string;
  /** Delays every write towards Redis this long from now on; order is preserved. */
  delay(ms: number): void;
  /** Breaks connections every few answers while it is on. */
  drop(isOn: boolean): void;
  /** Connections broken by `drop`. */
  readonly dropped: number;
  /** Open connections of replicas. */
  readonly connections: number;
  stop(): Promise<void>;
}

/** Starts a proxy between the replicas and Redis that can be slow or unreliable. */
export async function startRedisProxy(redisPort: number): Promise<RedisProxy> {
  const state = { delayMs: 0, isDropping: false, answers: 0, dropped: 0 };
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };

  const server = createServer((client) => {
    const redis = connect(redisPort, "127.0.0.1");
    keep(client, redis);
    keep(redis, client);
    let turn = Promise.resolve();
    client.on("data", (chunk: Buffer) => {
      const due = performance.now() + state.delayMs;
      turn = turn.then(() => sendAt(redis, chunk, due));
    });
    redis.on("data", (chunk) => {
      if (state.isDropping && ++state.answers % DROP_EVERY === 0) {
        state.dropped += 1;
        client.destroy();
      } else client.write(chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `redis://127.0.0.1:${address.port}/0`,
    delay: (ms) => void (state.delayMs = ms),
    drop: (isOn) => void (state.isDropping = isOn),
    get dropped() {
      return state.dropped;
    },
    get connections() {
      return sockets.size / 2;
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function sendAt(socket: Socket, chunk: Buffer, due: number): Promise<void> {
  const ms = due - performance.now();
  if (ms > 0) await sleep(ms);
  if (socket.writable) socket.write(chunk);
}
