// Receivers of events that hang, fail, redirect or never stop cost the gateway no memory and delay no call.
import { readFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setModelRatios,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "../src/index.ts";

const KINDS = ["well", "hang", "fail", "redirect", "endless body", "endless header", "slow body"] as const;
type Kind = (typeof KINDS)[number];

interface Receiver {
  readonly server: Server;
  readonly url: string;
  /** Connections of this part of the test, and how many of them ended. */
  calls: number;
  ended: number;
  /** Bytes that the gateway and the buffers of the connections took. */
  taken: number;
}

const CHUNK = Buffer.alloc(64 * 1024, "x");
const ALERTS = 100;
const MESSAGES = 2;
/** MiB: what the calls of the test itself need; the receivers send gigabytes. */
const MOST_GROWTH = 256;
/** Bytes of a call: what the system stores for a connection without a reader. */
const MOST_TAKEN = 32 * 1024 * 1024;
const TOKEN = "a-token-of-alertmanager";

let isHostile = false;
let upstream: Upstream;
let gateway: GatewayProcess;
let root: Session;
let key: string;
const receivers = new Map<Kind, Receiver>();
const sockets = new Set<Socket>();

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway();
  root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain" });
  key = await createToken(root);
  await setOptions(root, { AlertmanagerToken: TOKEN });
  for (const kind of KINDS) receivers.set(kind, await startReceiver(kind));
});
afterAll(async () => {
  await gateway?.stop();
  for (const socket of sockets) socket.destroy();
  for (const { server } of receivers.values()) server.close();
  await upstream?.stop();
});

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/** Writes until the other side has enough, and counts what it takes. */
function flood(receiver: Receiver, socket: Socket, head: string): void {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(CHUNK)) receiver.taken += CHUNK.length;
  };
  socket.on("drain", more);
  more();
}

function answer(kind: Kind, receiver: Receiver, socket: Socket): void {
  if (kind === "well" || !isHostile) return void socket.end(OK);
  if (kind === "hang") return;
  if (kind === "fail") return void socket.end("HTTP/1.1 500 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  if (kind === "redirect")
    return void socket.end(
      `HTTP/1.1 307 Go\r\nlocation: ${receiver.url}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
    );
  if (kind === "endless header") return flood(receiver, socket, "HTTP/1.1 200 OK\r\nx-endless: ");
  if (kind === "endless body") return flood(receiver, socket, "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n");
  socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4000\r\n\r\n");
  const timer = setInterval(() => socket.write("x"), 100);
  socket.on("close", () => clearInterval(timer));
}

async function startReceiver(kind: Kind): Promise<Receiver> {
  const server = createServer((socket) => {
    sockets.add(socket);
    receiver.calls += 1;
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      receiver.ended += 1;
    });
    let text = "";
    let isAnswered = false;
    socket.on("data", (part) => {
      if (isAnswered) return;
      text += part.toString("latin1");
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const body = text.indexOf("\r\n\r\n");
      if (length === undefined || body < 0 || text.length < body + 4 + Number(length)) return;
      isAnswered = true;
      answer(kind, receiver, socket);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const receiver: Receiver = { server, url, calls: 0, ended: 0, taken: 0 };
  const made = await root.must<{ id: number }>("POST", "/api/webhook/operator/", {
    name: kind,
    url,
    format: "standard",
  });
  await root.must("POST", `/api/webhook/operator/${made.id}/test`);
  return receiver;
}

/** Resident memory of the gateway in MiB. */
async function readMemory(): Promise<number> {
  const status = await readFile(`/proc/${gateway.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

async function call(): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hello" }] }),
  });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return performance.now() - began;
}

async function raiseAlerts(message: number): Promise<void> {
  const alerts = Array.from({ length: ALERTS }, (_, at) => ({
    status: "firing",
    labels: { alertname: "Load", severity: "critical", instance: `host-${message}-${at}` },
    annotations: { summary: "x".repeat(2_000) },
    startsAt: new Date().toISOString(),
    fingerprint: `${message}-${at}`,
  }));
  const response = await fetch(`${gateway.url}/api/event/alertmanager`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ version: "4", alerts }),
  });
  expect(response.status).toBe(200);
}

const findMiddle = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

interface Measured {
  /** Milliseconds of a call. */
  readonly middle: number;
  /** MiB. */
  readonly most: number;
}

/** Raises alerts, and makes calls until the receivers have what they are to get. */
async function measure(first: number, isOver: (all: readonly Receiver[]) => boolean): Promise<Measured> {
  const all = [...receivers.values()];
  for (const receiver of all) Object.assign(receiver, { calls: 0, ended: 0, taken: 0 });
  for (let message = 0; message < MESSAGES; message++) await raiseAlerts(first + message);
  const times: number[] = [];
  let most = await readMemory();
  while (!isOver(all)) {
    times.push(await call());
    if (times.length % 20 === 0) most = Math.max(most, await readMemory());
  }
  return { middle: findMiddle(times), most };
}

test("calls are as fast, memory as small, and other receivers get every event", { timeout: 400_000 }, async () => {
  const events = ALERTS * MESSAGES;
  for (let at = 0; at < 100; at++) await call();
  const usual = await measure(0, (all) => all.every(({ ended }) => ended >= events));
  isHostile = true;
  const well = receivers.get("well") as Receiver;
  const now = await measure(MESSAGES, (all) => well.ended >= events && all.every(({ ended }) => ended > 0));
  expect(now.most - usual.most, `${usual.most} to ${now.most} MiB`).toBeLessThan(MOST_GROWTH);
  for (const [kind, { taken, calls }] of receivers)
    expect(taken / Math.max(1, calls), `${kind}: ${taken} bytes in ${calls} calls`).toBeLessThan(MOST_TAKEN);
  // The same events to receivers that answer are the measure, on a machine that may do other work.
  expect(now.middle, `${usual.middle} ms before, ${now.middle} ms now`).toBeLessThan(3 * usual.middle + 250);
  // Each event has its first attempt at once, but for receivers that do not answer in time.
  for (const kind of ["hang", "slow body"] as const) expect(receivers.get(kind)?.calls, kind).toBeLessThan(events / 2);
});
