// Events and endpoints, with a receiver that really gets the messages.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tokenCreate } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";

let rig: Rig;
let address: string;
let status = 204;
const received: string[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    received.push(Buffer.concat(chunks).toString("utf8"));
    response.writeHead(status).end();
  });
});

beforeAll(async () => {
  await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  rig = await startRig();
});
afterAll(async () => {
  await rig?.stop();
  receiver.closeAllConnections();
  receiver.close();
});

const endpoint = (words: string, input?: string) => rig.fairway(`event endpoint ${words} --operator`, input);
const listDeliveries = async () => parseRows(await endpoint("deliveries on-call -o jsonl"));

test("an endpoint is made with its address from standard input, tested, and gets events", async () => {
  const made = await endpoint("create --name on-call --url-stdin --type token.created", `${address}\n`);
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^whsec_[\w+/]{43}=\n$/) as string });
  expect(made.err).toContain("It gets events after `fairway event endpoint test 1 --operator`.");
  const passed = await rig.fairway("event endpoint test on-call --operator");
  expect(passed.err).toMatch(/^Endpoint 1 \(on-call\) is on: it answered 204 after \d+ ms\.$/m);
  expect(received.at(-1)).toContain("webhook.test");
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  await expect.poll(async () => (await listDeliveries())[0]?.["state"], { timeout: 20_000 }).toBe("done");
  const [delivery] = await listDeliveries();
  const again = await endpoint(`redeliver on-call ${String(delivery?.["id"])}`);
  expect(again.err).toContain("redelivery 1");
  await expect
    .poll(() => received.filter((body) => body.includes("token.created")).length, { timeout: 20_000 })
    .toBe(2);
  const [event] = parseRows(await rig.fairway("event list --type token.created --since 1h -o jsonl"));
  expect(event).toMatchObject({ type: "token.created", data: { name: "ci" } });
});

test("a receiver that refuses fails the command, and what was missed is sent later", async () => {
  status = 500;
  expect(await endpoint("test on-call")).toMatchObject({
    code: 1,
    err: expect.stringContaining("the receiver answered 500") as string,
  });
  status = 204;
  expect(parseJsonOutput(await endpoint("update on-call --disable -o json"))).toMatchObject({ status: "off" });
  await rig.client.call(tokenCreate, { body: { name: "missed", unlimited_quota: true } });
  await expect
    .poll(async () => parseRows(await rig.fairway("event list --all --type token.created -o jsonl")).length)
    .toBe(2);
  expect((await endpoint("update on-call --enable")).code).toBe(0);
  // Those that were sent while it was on are not sent again.
  await expect.poll(async () => (await endpoint("recover on-call --since 1h")).err).toMatch(/^[01] missed event/m);
  await expect.poll(() => received.some((body) => body.includes('"missed"')), { timeout: 20_000 }).toBe(true);
});

test("flags become members, and wrong ones are refused with the cure", async () => {
  const flags =
    "--quiet-hours 22:00-07:00 --quiet-zone Europe/Berlin --quiet-days 1,7 --min-severity warning --ordered";
  expect(parseJsonOutput(await endpoint(`update on-call ${flags} -o json`))).toMatchObject({
    quiet: { zone: "Europe/Berlin", from: "22:00", to: "07:00", weekdays: [1, 0] },
    min_severity: "warning",
    ordered: true,
  });
  const changed = parseJsonOutput(await endpoint("update on-call --quiet-hours none --type all --no-ordered -o json"));
  expect(changed).toMatchObject({ quiet: null, types: [], ordered: false });
  for (const [words, cure] of [
    ["update on-call --quiet-zone UTC", "--quiet-hours"],
    ["update on-call --quiet-hours late", "22:00-07:00"],
    ["update on-call --quiet-days 0", "1 (Monday)"],
    ["update on-call --group 2h", "an hour at most"],
    ["create --name x", "--url-stdin"],
    ["update on-call", "nothing to change"],
  ] as const) {
    const refused = await endpoint(words);
    expect(refused, words).toMatchObject({ code: 2, out: "" });
    expect(refused.err, words).toContain(cure);
  }
  expect(await endpoint("get nothing")).toMatchObject({ code: 3, out: "" });
  const rotated = await endpoint("rotate-secret on-call -o raw");
  expect(rotated.out).toMatch(/^whsec_/);
  const names = (await endpoint("list -o name")).out;
  expect(names).toBe("endpoint/1\n");
  expect((await endpoint(`delete ${names.trim()} --yes`)).out).toMatch(/^ok +endpoint 1 +deleted$/m);
});

test("own endpoints take public addresses only", async () => {
  const refused = await rig.fairway(`event endpoint create --name mine --url ${address}`);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toContain("https://");
  const made = await rig.fairway("event endpoint create --name mine --url https://hooks.example.com/x --format slack");
  expect(made.err).toContain("not signed");
  expect((await rig.fairway("event endpoint delete mine --yes")).code).toBe(0);
});
