// `log follow` against a real gateway: no row is lost or printed twice through dropped, cut and restarted streams.
import { channelCreate, LOG_TYPE, logList, optionUpdate, userCreate, userManage, userSearch } from "@fairway/wire";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { signIn, startRig, type Rig } from "./rig.ts";
import { environment, openTerminal, PROGRAM, run } from "./terminal.ts";

let rig: Rig;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  rig = await startRig();
});
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});
afterAll(() => rig?.stop());

/** Creates this many management rows with the same text. */
async function change(count = 1): Promise<void> {
  for (let at = 0; at < count; at++)
    await rig.client.call(optionUpdate, { body: { key: "SystemName", value: `Harbour ${++changes}` } });
}
let changes = 0;

/** Returns the ids of the management rows from `first` on, in list order. */
async function written(first: number): Promise<number[]> {
  const rows: number[] = [];
  for (let p = 1; ; p++) {
    const { data } = await rig.client.call(logList, { query: { type: LOG_TYPE.manage, p, page_size: 100 } });
    rows.push(...data.items.map(({ id }) => id));
    if (data.next === "") return rows.filter((id) => id >= first).toReversed();
  }
}

function follow(args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: environment(env) });
  running.add(child);
  const lines: string[] = [];
  let notes = "";
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  child.stderr.on("data", (part: Buffer) => (notes += part.toString()));
  const exited = once(child, "close").then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  return {
    lines,
    exited,
    child,
    notes: () => notes,
    rows: () => lines.map((line) => JSON.parse(line) as { id: number; content: string }),
  };
}

/** Waits until every row since the oldest one was printed exactly once. */
async function tellsAll({ rows }: ReturnType<typeof follow>): Promise<void> {
  const ids = () => rows().map(({ id }) => id);
  // Rows of the second in which the stream opened may come late, after newer ones.
  const wanted = await written(Math.min(...ids()));
  await expect.poll(() => wanted.filter((id) => !ids().includes(id)), { timeout: 40_000 }).toEqual([]);
  expect(ids().toSorted((a, b) => a - b)).toEqual(wanted);
}

/** Starts a proxy to the gateway that can be closed, with its connections cut. */
async function startDoor() {
  const sockets = new Set<Socket>();
  let isShut = false;
  const server = createServer((client) => {
    if (isShut) return void client.destroy();
    const upstream = connect(Number(new URL(rig.gateway.url).port), "127.0.0.1");
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => [client, upstream].forEach((one) => one.destroy()));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    env: { FAIRWAY_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, FAIRWAY_TOKEN: rig.token },
    shut() {
      isShut = true;
      for (const socket of sockets) socket.destroy();
    },
    open: () => void (isShut = false),
    stop() {
      this.shut();
      server.close();
    },
  };
}

test("prints more rows than one stream carries, each once and in order", async () => {
  const following = follow(["log", "follow", "--type", "manage", "-o", "jsonl"], rig.env);
  // The command does not print rows from before the stream is open; the first row shows that it is.
  while (following.lines.length === 0) await change();
  await change(120);
  await tellsAll(following);
  await change();
  await tellsAll(following);
  following.child.kill("SIGINT");
  expect(await following.exited).toBe(130);
});

test("continues where it stopped after a lost connection", async () => {
  const door = await startDoor();
  const following = follow(["logs", "list", "--follow", "--type", "manage", "-o", "json"], door.env);
  try {
    while (following.lines.length === 0) await change();
    await change(10);
    door.shut();
    await change(10);
    await expect.poll(following.notes).toContain("trying again in");
    door.open();
    await change(10);
    await tellsAll(following);
    door.shut();
    door.open();
    await change();
    await tellsAll(following);
  } finally {
    door.stop();
  }
});

test("--since tells the past first, filters hold for both, titles stand once", async () => {
  const args = ["log", "tail", "--since", "1h", "--type", "manage"];
  const following = follow(args, rig.env);
  await expect.poll(() => following.lines.length).toBeGreaterThan(100);
  await rig.client.call(optionUpdate, { body: { key: "RetryTimes", value: "1" } });
  await expect.poll(() => following.lines.at(-1)).toContain("Option RetryTimes changed");
  expect(following.lines[1]).toContain("Option SystemName changed");
  expect(following.lines.filter((line) => line.startsWith("TIME"))).toEqual([following.lines[0]]);
  const terminal = openTerminal(args, rig.env);
  await terminal.sees("TIME");
  terminal.type("\u0003");
  expect(await terminal.exited).toBe(130);
  const none = await run(["log", "list", "--type", "consume", "--since", "1h", "-o", "jsonl"], rig.env);
  expect(none).toMatchObject({ code: 0, out: "" });
});

test("users follow their own rows, also those that say the same", async () => {
  const alice = { FAIRWAY_CONFIG: join(rig.home, "alice.json") };
  await rig.client.call(userCreate, { body: { username: "alice", password: "alice-password" } });
  await signIn(rig.gateway.url, alice, { username: "alice", password: "alice-password" });
  const { data } = await rig.client.call(userSearch, { query: { keyword: "alice" } });
  const give = () =>
    rig.client.call(userManage, { body: { id: data[0]?.id, action: "add_quota", value: 100, mode: "add" } });
  const following = follow(["log", "follow", "-o", "jsonl"], alice);
  while (following.lines.length === 0) await give();
  for (let at = 0; at < 30; at++) await give();
  const past = follow(["log", "follow", "--since", "1h", "-o", "jsonl"], alice);
  const all = (await run(["log", "list", "--limit", "1000", "-o", "jsonl"], alice)).out.trim().split("\n");
  await expect.poll(() => past.lines.length).toBe(all.length);
  const first = JSON.parse(following.lines[0] ?? "") as { created_at: number };
  const since = all.filter((line) => (JSON.parse(line) as { created_at: number }).created_at >= first.created_at);
  await expect.poll(() => following.lines.length, { timeout: 40_000 }).toBeGreaterThanOrEqual(31);
  expect(following.lines.length).toBeLessThanOrEqual(since.length);
  expect(following.rows().map(({ id }) => id)).toEqual(following.lines.map((_line, at) => at + 1));
  expect((await run(["log", "follow", "--user", "root"], alice)).code).toBe(6);
  expect((await run(["log", "follow", "--channel", "1"], alice)).code).toBe(6);
});

test("a reader that has enough ends it without a word", async () => {
  const following = follow(["log", "follow", "--since", "1h", "-o", "jsonl"], rig.env);
  await expect.poll(() => following.lines.length).toBeGreaterThan(0);
  following.child.stdout.destroy();
  await expect
    .poll(async () => {
      if (following.child.exitCode === null) await change();
      return following.child.exitCode;
    })
    .toBe(0);
  expect(following.notes()).toBe("");
});

test("a gateway that was never there is a failure at once", async () => {
  const { code, err } = await run(["log", "follow"], { FAIRWAY_SERVER: "http://127.0.0.1:9", FAIRWAY_TOKEN: "t" });
  expect(code).toBe(7);
  expect(err).toContain("http://127.0.0.1:9 cannot be reached");
});

test("sums and deletions", async () => {
  const stat = await run(["log", "stat", "--since", "1h", "-o", "json"], rig.env);
  expect(JSON.parse(stat.out)).toMatchObject({ quota: 0, rpm: 0, tpm: 0 });
  expect((await run(["log", "prune", "--before", "1d"], rig.env)).code).toBe(2);
  const pruned = await run(["log", "prune", "--before", "1d", "--yes", "-o", "json"], rig.env);
  expect(JSON.parse(pruned.out)).toEqual({ deleted: 0 });
  expect((await run(["log", "prune", "--before", "soon", "--yes"], rig.env)).err).toContain("--before soon");
});

test("--errors shows failed calls alone, and --min-latency the slow ones", async () => {
  const channel = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: "http://127.0.0.1:9" };
  await rig.client.call(channelCreate, { body: { ...channel, name: "down" } });
  const made = await rig.fairway("token create --name failing");
  const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${made.out.trim()}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(response.status).toBe(502);
  await change(3);
  const failed = follow(["log", "follow", "--errors", "--since", "1h", "-o", "jsonl"], rig.env);
  await expect.poll(() => failed.lines.length, { timeout: 40_000 }).toBe(1);
  expect(failed.rows()).toMatchObject([{ type: LOG_TYPE.error, model_name: "gpt-4o" }]);
  failed.child.kill();
  const slow = follow(["log", "follow", "--min-latency", "5s", "--debug"], rig.env);
  await expect.poll(slow.notes, { timeout: 40_000 }).toContain("min_use_time=5");
  slow.child.kill();
  expect(await rig.fairway("log follow --errors --type consume")).toMatchObject({ code: 2 });
});
