import { connect } from "node:net";
import { JOB_STATUS } from "@fairway/wire";
import { afterEach, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

let gateway: RelayApp;
afterEach(() => gateway.close());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Renames a channel while another process keeps the database for itself; answers the call and the new name so far. */
async function slowWrite(signal?: AbortSignal) {
  const id = await gateway.channel("a");
  const { raw } = gateway.database;
  const { headers } = gateway.root;
  await raw.run("begin immediate", []);
  const asked = fetch(`${gateway.url}/api/channel/`, {
    method: "PUT",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ id, name: "renamed" }),
    ...(signal && { signal }),
  });
  await pause(300);
  const name = async () => (await raw.rows<{ name: string }>("select name from channels where id = ?", [id]))[0]?.name;
  return { asked, name, unlock: () => raw.run("rollback", []) };
}

it("waits for a write of the management API, whose client gets its answer", async () => {
  gateway = await startRelayApp();
  const { asked, name, unlock } = await slowWrite();
  const stopped = gateway.app.stop();
  await pause(700);
  await unlock();
  const response = await asked;
  expect(await response.json()).toMatchObject({ success: true });
  await stopped;
  expect(await name()).toBe("renamed");
});

it("waits for a write of the management API whose client has left", async () => {
  gateway = await startRelayApp();
  const leaving = new AbortController();
  const { asked, name, unlock } = await slowWrite(leaving.signal);
  leaving.abort();
  await expect(asked).rejects.toThrow("aborted");
  const stopped = gateway.app.stop();
  await pause(700);
  await unlock();
  await stopped;
  expect(await name()).toBe("renamed");
});

it("waits for an export that is still read", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "30" });
  await gateway.database.raw.run(
    `insert into logs (user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens,
       completion_tokens, use_time, is_stream, channel_id, token_id, "group", ip, request_id, other)
     with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
     select 1, 1000 + i, 4, hex(zeroblob(1000)), 'root', '', '', 0, 0, 0, 0, 0, 0, 0, '', '', '', '' from n`,
    [],
  );
  const { headers } = gateway.root;
  const response = await fetch(`${gateway.url}/api/log/export?format=ndjson&type=4`, { headers });
  const stopped = gateway.app.stop();
  await pause(500);
  expect((await response.text()).trimEnd().split("\n")).toHaveLength(5_000);
  await stopped;
});

/** A call on a connection of its own, of whose body the last byte is missing; it will be refused before it is looked at. */
function halfSent() {
  const body = "no object";
  const head = `POST /api/user/login HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1", () => socket.write(head + body.slice(0, -1)));
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString("latin1")));
  const ended = new Promise<void>((resolve, reject) => socket.once("error", reject).once("close", () => resolve()));
  return { ended, send: (text: string) => socket.write(text), rest: body.slice(-1), received: () => received };
}

it("answers a call of the management API whose body outlives the drain with server_shutdown", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "1" });
  const { ended, received } = halfSent();
  await pause(300);
  await gateway.app.stop();
  await ended;
  expect(received()).toMatch(/^HTTP\/1\.1 503 /);
  expect(received()).toContain('"code":"server_shutdown"');
});

it("takes a further call on an open connection, which is the last one there", async () => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "30" });
  const holding = await slowWrite();
  const { ended, send, rest, received } = halfSent();
  await pause(300);
  const stopped = gateway.app.stop();
  send(rest);
  await expect.poll(received, { timeout: 5_000 }).toContain("keep-alive");
  send("GET /api/nothing HTTP/1.1\r\nHost: x\r\n\r\n");
  await ended;
  expect(received()).toMatch(/HTTP\/1\.1 404 [^]*\r\nConnection: close\r\n/);
  await holding.unlock();
  await stopped;
});

it.each([
  ["the log", "/api/log/tail"],
  ["a job", "/api/job/1"],
])("does not wait for who follows %s", async (_what, path) => {
  gateway = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "30" });
  await gateway.database.db
    .insertInto("jobs")
    .values({
      id: 1,
      name: "long",
      status: JOB_STATUS.running,
      progress: "{}",
      started_by: 1,
      created_at: 1,
      updated_at: 1,
    })
    .execute();
  const headers = { ...gateway.root.headers, accept: "text/event-stream" };
  const response = await fetch(gateway.url + path, { headers });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const since = performance.now();
  await Promise.all([gateway.app.stop(), response.text().catch(() => "broken off")]);
  expect(performance.now() - since).toBeLessThan(20_000);
});
