import { findProgram, startServer, unprivileged, type Service } from "./process.ts";

export interface RedisSettings {
  /** Appends every write to a file before answering, as production does; off by default. */
  readonly isDurable?: boolean;
}

export function startRedis(settings: RedisSettings = {}): Promise<Service> {
  return startServer({
    name: "redis",
    command: findProgram("redis-server", "redis-server"),
    account: unprivileged("redis"),
    args: (folder, port) => [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--dir",
      folder,
      "--save",
      "",
      "--appendonly",
      settings.isDurable ? "yes" : "no",
      "--daemonize",
      "no",
    ],
    ready: "Ready to accept connections",
    url: (port) => `redis://127.0.0.1:${port}/0`,
    stopSignal: "SIGKILL",
  });
}
