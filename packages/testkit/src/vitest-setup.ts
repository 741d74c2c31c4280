// Global setup of every test project that touches a database. The servers are shared by all workers of a
// run and start when the first test requests one, so a run by path pays only for what it uses.
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { startClickhouse, startMariadb, startPostgres, type Service } from "./services.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address from which workers get a shared server: `GET /mariadb`, `GET /postgres` or `GET /clickhouse` returns its URL. */
    services: string;
  }
}

const STARTERS: Readonly<Record<string, () => Promise<Service>>> = {
  mariadb: startMariadb,
  postgres: startPostgres,
  clickhouse: startClickhouse,
};
const GIVEN: Readonly<Record<string, string | undefined>> = {
  mariadb: process.env["FAIRWAY_TEST_MARIADB_URL"],
  postgres: process.env["FAIRWAY_TEST_POSTGRES_URL"],
  clickhouse: process.env["FAIRWAY_TEST_CLICKHOUSE_URL"],
};

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Service>>();

  const resolveServiceUrl = async (name: string): Promise<string> => {
    const given = GIVEN[name];
    if (given) return given;
    const start = STARTERS[name];
    if (!start) throw new Error(`there is no shared service ${name}`);
    const service = started.get(name) ?? start();
    started.set(name, service);
    return (await service).url;
  };

  const host = createServer((request, response) => {
    // Workers call infrequently, so idle connections would time out just before they are used again.
    response.setHeader("connection", "close");
    resolveServiceUrl((request.url ?? "").slice(1)).then(
      (url) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  const address = host.address();
  if (!address || typeof address === "string") throw new Error("the service host has no port");
  project.provide("services", `http://127.0.0.1:${address.port}`);

  return async () => {
    host.close();
    await Promise.all([...started.values()].map((service) => service.then((it) => it.stop())));
  };
}
