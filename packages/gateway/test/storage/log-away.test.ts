// The database of the log is away: every call of the management API that reads the log says so, every other one works,
// model calls continue, and their rows are there when the database is back.
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  createChannel,
  createToken,
  runSql,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "@fairway/testkit";
import { createDatabase } from "@fairway/testkit/databases";
import { startClickhouse, startMariadb, startPostgres, type Service } from "@fairway/testkit/services";

const MODEL = "plain";
const CODE = wire.MESSAGE_CODES.log_unreachable;
const SERVERS: Readonly<Record<string, () => Promise<Service>>> = {
  ClickHouse: startClickhouse,
  PostgreSQL: () => startPostgres(),
  MariaDB: () => startMariadb(),
};
const SOON = { timeout: 30_000, interval: 500 };

const ENDPOINTS = Object.values<unknown>(wire).filter(
  (value): value is wire.Endpoint =>
    typeof value === "object" && value !== null && "access" in value && "method" in value,
);
const READERS = ENDPOINTS.filter(({ fails }) => fails.includes("log_unreachable"));
/** They ask other servers, or send events until the client leaves. */
const OTHERS = ENDPOINTS.filter(
  ({ method, fails, answer, hasEffects }) =>
    method === "GET" && answer !== "stream" && !hasEffects && !fails.includes("log_unreachable"),
);

/** What exists and is read. */
interface Known {
  readonly row: number;
  readonly request: string;
  readonly token: number;
  readonly team: number;
  readonly report: number;
  readonly teamReport: number;
}

/** Returns the address of a database on the server: that of MariaDB names none. */
async function prepareLog(url: string): Promise<string> {
  if (new URL(url).pathname !== "/") return url;
  await runSql(url, "CREATE DATABASE log_away CHARACTER SET utf8mb4");
  return new URL("/log_away", url).href;
}

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.stop());

describe.each(Object.keys(SERVERS))("while the log in %s is away", (name) => {
  let server: Service;
  let gateway: GatewayProcess;
  let root: Session;
  let database = "";
  let key = "";
  let known: Known;

  const ask = async (model: string) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello." }] }),
    });
    await answer.text();
    return answer.status;
  };
  const rows = () => root.must<wire.LogPage>("GET", "/api/log/?page_size=100");
  const count = async (type: number) => (await rows()).items.filter((row) => row.type === type).length;

  beforeAll(async () => {
    server = await (SERVERS[name] ?? expect.unreachable(name))();
    database = await createDatabase("sqlite");
    const url = await prepareLog(server.url);
    gateway = await startGateway({ database, env: { FAIRWAY_LOG_DATABASE_URL: url } });
    root = await signIn(gateway.url);
    await setModelRatios(root, { [MODEL]: 1 });
    await createChannel(root, { base_url: upstream.url, models: MODEL });
    key = await createToken(root);
    expect(await ask(MODEL)).toBe(200);
    await vi.waitFor(async () => expect(await count(wire.LOG_TYPE.consume)).toBe(1), SOON);
    const [row] = (await rows()).items.filter(({ type }) => type === wire.LOG_TYPE.consume);
    const team = await root.must<{ id: number }>("POST", "/api/team/", { name: "Tide" });
    // Only rows have the name of a token together with a model.
    const saved = { name: "Daily", question: { by: ["token", "model"], days: 1 } };
    const report = await root.must<{ id: number }>("POST", "/api/report/saved/", saved);
    const teamReport = await root.must<{ id: number }>("POST", `/api/team/${team.id}/report/saved/`, saved);
    known = {
      row: row?.id ?? 0,
      request: row?.request_id ?? "",
      token: row?.token_id ?? 0,
      team: team.id,
      report: report.id,
      teamReport: teamReport.id,
    };
    // The PostgreSQL of tests commits before its disk has the row: what was stored is stored when it dies.
    if (name === "PostgreSQL") await runSql(url, "CHECKPOINT");
    await server.kill();
  }, 180_000);
  afterAll(async () => {
    await gateway?.stop();
    await server?.stop();
  });

  const fill = ({ path }: wire.Endpoint) => {
    const ids = { "/api/log": known.row, "/api/team": known.team, "/api/token": known.token };
    const [, id = known.report] = Object.entries(ids).find(([start]) => path.startsWith(start)) ?? [];
    return path
      .replace("{id}", String(id))
      .replace("{rid}", String(known.teamReport))
      .replace("{request}", known.request)
      .replaceAll(/\{\w+\}/g, "1");
  };
  const send = (endpoint: wire.Endpoint) =>
    fetch(gateway.url + fill(endpoint) + (QUERIES[endpoint.name] ?? ""), {
      method: endpoint.method,
      headers: {
        ...(endpoint.access === "key" ? { authorization: `Bearer ${key}` } : root.headers),
        "content-type": "application/json",
      },
      ...(endpoint.body && { body: JSON.stringify(BODIES[endpoint.name]) }),
      redirect: "manual",
      signal: AbortSignal.timeout(30_000),
    });

  test("each call that reads it says so, and when to try again", async () => {
    const found: Record<string, unknown> = {};
    for (const endpoint of READERS) {
      const answer = await send(endpoint);
      const { success, code, message } = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
      found[endpoint.name] = [answer.status, answer.headers.get("retry-after"), success, code, message];
    }
    const expected = [503, "5", false, CODE, wire.MESSAGES.log_unreachable.text];
    expect(found).toEqual(Object.fromEntries(READERS.map((endpoint) => [endpoint.name, expected])));
    expect(READERS.length).toBeGreaterThan(25);
  }, 120_000);

  test("no other call that reads fails", async () => {
    const failed: string[] = [];
    for (const endpoint of OTHERS) {
      const answer = await send(endpoint);
      const text = await answer.text();
      if (answer.status >= 500) failed.push(`${endpoint.name} ${answer.status} ${text.slice(0, 200)}`);
    }
    expect(failed).toEqual([]);
  }, 120_000);

  test("model calls continue, and each has its row once the database is back", async () => {
    for (let at = 0; at < 20; at++) expect(await ask(MODEL)).toBe(200);
    for (let at = 0; at < 3; at++) expect(await ask("unknown")).toBeGreaterThanOrEqual(400);
    const waiting = async () => (await runSql(database, "select count(*) as n from log_outbox"))[0]?.["n"];
    await expect.poll(async () => Number(await waiting()), SOON).toBeGreaterThanOrEqual(23);
    expect((await root.call("GET", "/api/log/")).status).toBe(503);
    await server.restart();
    const read = () => Promise.all([count(wire.LOG_TYPE.consume), count(wire.LOG_TYPE.error)]).catch(() => []);
    await expect.poll(read, SOON).toEqual([21, 3]);
  }, 120_000);
});

const QUERIES: Readonly<Record<string, string>> = {
  logClear: "?target_timestamp=1",
  logSearchSelf: "?keyword=2",
};
const BODIES: Readonly<Record<string, unknown>> = {
  pricePreview: { prices: [{ model: MODEL, input: "2" }] },
};
