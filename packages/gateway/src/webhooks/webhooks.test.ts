import { eachDatabase } from "@fairway/testkit/databases";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startReceiver, type Receiver } from "../../test/kit/receiver.ts";
import { openWebhookKit, SIGNING_KEY, type WebhookKit } from "../../test/kit/webhook-kit.ts";
import { createSigningKey, rotateKeys } from "./formats/standard.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

eachDatabase("webhooks", (open) => {
  let kit: WebhookKit;
  let receiver: Receiver;

  beforeAll(async () => {
    kit = await openWebhookKit(await open(), 300);
  });
  afterAll(() => kit.close());
  beforeEach(async () => {
    await kit.clear();
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  const verify = ({ body, headers }: Receiver["received"][number], key = SIGNING_KEY) => {
    // The verifier knows only the time of its process.
    vi.useFakeTimers({ now: kit.now(), toFake: ["Date"] });
    try {
      return new Webhook(key).verify(body, headers as Record<string, string>);
    } finally {
      vi.useRealTimers();
    }
  };
  const addStandard = (more: Parameters<WebhookKit["addEndpoint"]>[0] = {}) =>
    kit.addEndpoint({ ...more, target: { url: `${receiver.url}/hook` } });

  test("an independent verifier accepts the signature, and refuses a changed body", async () => {
    await addStandard();
    await kit.record({ data: { balance: 5, name: "林" } });
    await kit.run();
    expect(receiver.received).toHaveLength(1);
    const [message] = receiver.received;
    if (!message) return;
    expect(verify(message)).toMatchObject({
      type: "balance.low",
      timestamp: new Date(kit.now()).toISOString(),
      id: message.headers["webhook-id"],
      severity: "warning",
      entity: { scope: "balance", name: "林" },
      data: { balance: 5 },
    });
    expect(() => verify({ ...message, body: message.body.replace("5", "6") })).toThrow();
    await kit.run();
    expect(receiver.received).toHaveLength(1);
    expect(await kit.deliveries()).toMatchObject([{ state: "done", attempts: 1, last_status: 204 }]);
  });

  test("an alert goes to programs, and never back to an Alertmanager", async () => {
    await addStandard();
    await kit.addEndpoint({ format: "alertmanager", target: { url: `${receiver.url}/api/v2/alerts` } });
    await kit.record({ type: "alert.firing", data: { name: "FairwayDown" } });
    await kit.run();
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hook"]);
  });

  test("after a rotation both keys sign for a day", async () => {
    const id = await addStandard();
    const key = createSigningKey();
    const rotate = (next: string) =>
      kit.store.change("operator", id, {}, (target) => ({
        ...target,
        keys: rotateKeys(target.keys, next, Math.floor(kit.now() / SECOND)),
      }));
    await rotate(key);
    await kit.record();
    await kit.run();
    const [first] = receiver.received;
    if (!first) throw new Error("nothing was sent");
    verify(first, SIGNING_KEY);
    verify(first, key);
    kit.move(DAY + SECOND);
    await kit.record();
    await kit.run();
    const last = receiver.received.at(-1);
    if (!last) throw new Error("nothing was sent");
    expect(() => verify(last, SIGNING_KEY)).toThrow();
    verify(last, key);
  });

  test("a receiver that is down gets the message later, under the same id, with longer waits", async () => {
    await addStandard();
    receiver.answer = (response) => response.writeHead(500).end("x".repeat(100_000));
    await kit.record();
    await kit.run();
    await kit.run();
    expect(receiver.received).toHaveLength(1);
    for (const wait of [5 * SECOND, 5 * MINUTE]) {
      kit.move(wait - 1);
      await kit.run();
      const before = receiver.received.length;
      kit.move(1);
      await kit.run();
      expect(receiver.received.length).toBe(before + 1);
    }
    receiver.answer = (response) => response.writeHead(200).end();
    kit.move(30 * MINUTE);
    await kit.run();
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(await kit.deliveries()).toMatchObject([{ state: "done", attempts: 4, last_error: "" }]);
  });

  test("ten attempts over three days, then the delivery has failed", async () => {
    await addStandard();
    receiver.answer = (response) => response.writeHead(500).end();
    await kit.record();
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await kit.run();
      kit.move(25 * HOUR);
    }
    expect(await kit.deliveries()).toMatchObject([{ state: "failed", attempts: 10, last_status: 500 }]);
    await kit.run();
    expect(receiver.received).toHaveLength(10);
  });

  test("Retry-After is honoured", async () => {
    await addStandard();
    receiver.answer = (response) => response.writeHead(503, { "retry-after": "3600" }).end();
    await kit.record();
    await kit.run();
    kit.move(HOUR - SECOND);
    await kit.run();
    expect(receiver.received).toHaveLength(1);
    kit.move(2 * SECOND);
    await kit.run();
    expect(receiver.received).toHaveLength(2);
  });

  test("a redirect is a failure and is not followed", async () => {
    await addStandard();
    receiver.answer = (response, { path }) =>
      path === "/hook" ? response.writeHead(302, { location: `${receiver.url}/other` }).end() : response.end();
    await kit.record();
    await kit.run();
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hook"]);
    expect((await kit.deliveries())[0]?.last_error).toContain("redirects are not followed");
  });

  test("410 switches the endpoint off, and others hear of it", async () => {
    const other = await kit.addEndpoint({ name: "other", target: { url: `${receiver.url}/other` } });
    const id = await addStandard();
    receiver.answer = (response, { path }) => response.writeHead(path === "/hook" ? 410 : 204).end();
    await kit.record();
    await kit.record();
    await kit.run();
    kit.move(SECOND);
    await kit.run();
    expect(await kit.store.find("operator", id)).toMatchObject({ status: "disabled" });
    expect(receiver.received.filter(({ path }) => path === "/hook")).toHaveLength(1);
    const heard = receiver.received.filter(({ path, body }) => path === "/other" && body.includes("webhook.disabled"));
    expect(heard).toHaveLength(1);
    const mine = (await kit.deliveries()).filter((row) => row.endpoint_id === id);
    expect(mine.map(({ state }) => state)).toEqual(["waiting", "skipped"].map(() => "skipped"));
    expect(await kit.store.find("operator", other)).toMatchObject({ status: "on" });
  });

  test("five days without a success and twenty failures switch the endpoint off", async () => {
    const id = await addStandard();
    receiver.answer = (response) => response.writeHead(500).end();
    for (let day = 0; day < 6; day += 1) {
      for (let event = 0; event < 4; event += 1) await kit.record();
      await kit.run();
      kit.move(DAY);
    }
    await kit.run();
    expect(await kit.store.find("operator", id)).toMatchObject({ status: "disabled" });
    const sent = receiver.received.length;
    await kit.record();
    await kit.run();
    expect(receiver.received.length).toBe(sent);
  });

  test("a receiver that hangs holds up no other one, and is left alone after three times", async () => {
    await addStandard();
    const hanging = await startReceiver();
    hanging.answer = () => {};
    await kit.addEndpoint({ name: "hangs", target: { url: hanging.url } });
    for (let at = 0; at < 8; at += 1) {
      await kit.record();
      await kit.run();
    }
    expect(receiver.received).toHaveLength(8);
    expect(hanging.received).toHaveLength(3);
    hanging.answer = (response) => response.end();
    kit.move(40 * MINUTE);
    await kit.run();
    await kit.run();
    expect(new Set(hanging.received.map(({ headers }) => headers["webhook-id"])).size).toBe(8);
    await hanging.close();
  });

  test("a leader that loses its term after sending stores nothing, and the next sends the same id", async () => {
    await addStandard();
    await kit.record();
    const lost = () =>
      receiver.received.length > 0 ? Promise.reject(new Error("another replica took over")) : Promise.resolve();
    await kit.run(lost);
    expect(receiver.received).toHaveLength(1);
    expect(await kit.deliveries()).toMatchObject([{ state: "waiting", attempts: 0 }]);
    kit.move(5 * SECOND);
    await kit.run();
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[0]?.headers["webhook-id"]).toBe(receiver.received[1]?.headers["webhook-id"]);
    expect(await kit.deliveries()).toMatchObject([{ state: "done", attempts: 1 }]);
  });

  test("ordered: what comes later waits for what failed", async () => {
    await addStandard({ ordered: 1 });
    let isDown = true;
    receiver.answer = (response) => response.writeHead(isDown ? 500 : 200).end();
    for (let at = 0; at < 3; at += 1) await kit.record();
    await kit.run();
    await kit.run();
    expect(receiver.received).toHaveLength(1);
    isDown = false;
    kit.move(5 * SECOND);
    await kit.run();
    const ids = receiver.received.map(({ headers }) => Number(String(headers["webhook-id"]).slice(4)));
    expect(ids.slice(1)).toEqual(ids.slice(1).toSorted((a, b) => a - b));
    expect(ids).toHaveLength(4);
  });

  test("people hear their own events only, the operator hears all", async () => {
    kit.options.values = { ...kit.options.values, UserWebhooks: true };
    const operator = await addStandard();
    const own = await kit.addEndpoint({ owner: "user:5", target: { url: "https://127.0.0.1/" } });
    const foreign = await kit.addEndpoint({ owner: "user:6", target: { url: "https://127.0.0.1/" } });
    const team = await kit.addEndpoint({ owner: "team:5", target: { url: "https://127.0.0.1/" } });
    await kit.record({ userId: 5 });
    await kit.record({ type: "channel.disabled", userId: 5 });
    await kit.record({ userId: 5, severity: "info", teamId: 5 });
    await kit.run();
    const count = async (id: number) => (await kit.deliveries()).filter((row) => row.endpoint_id === id).length;
    expect([await count(operator), await count(own), await count(foreign), await count(team)]).toEqual([3, 2, 0, 1]);
    const refused = (await kit.deliveries()).filter((row) => row.endpoint_id === own);
    expect(refused[0]).toMatchObject({ state: "waiting", last_status: 0 });
    expect(refused[0]?.last_error).toMatch(/not a public one|not allowed/);
  });

  test("types, severity and the time of creation decide what an endpoint gets", async () => {
    await kit.record({ atMs: kit.now() - DAY });
    await addStandard({ types: '["balance.low"]', min_severity: "warning" });
    await kit.record({ type: "balance.empty" });
    await kit.record({ severity: "info" });
    await kit.record();
    await kit.run();
    expect(receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(["balance.low"]);
  });

  test("a redelivery has the same id and its number", async () => {
    const id = await addStandard();
    await kit.record();
    await kit.run();
    const [delivery] = await kit.deliveries();
    expect(await kit.store.redeliver(id, delivery?.id ?? 0)).toBe(1);
    await kit.run();
    const [first, again] = receiver.received;
    expect(again?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(again?.headers["fairway-redelivery"]).toBe("1");
  });

  test("a hundred events in a second reach WeCom in at most twenty messages a minute, all of them counted", async () => {
    await kit.addEndpoint({ format: "wecom", group_seconds: 30, target: { url: receiver.url } });
    receiver.answer = (response) => response.end('{"errcode":0}');
    for (let at = 0; at < 100; at += 1)
      await kit.record({
        userId: (at % 3) + 1,
        data: { balance: at, limit: 1_000, name: "<@all>[x](http://evil.test)" },
      });
    const sentAt: number[] = [];
    for (let second = 0; second < 120; second += 1) {
      const before = receiver.received.length;
      await kit.run();
      for (let at = before; at < receiver.received.length; at += 1) sentAt.push(kit.now());
      kit.move(SECOND);
    }
    for (const from of sentAt)
      expect(sentAt.filter((at) => at >= from && at < from + MINUTE).length).toBeLessThanOrEqual(20);
    const texts = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { markdown: { content: string } }).markdown.content,
    );
    const counted = texts.flatMap((text) => [...text.matchAll(/× (\d+)/g)].map((match) => Number(match[1])));
    expect(counted.reduce((sum, n) => sum + n, 0)).toBe(100);
    for (const text of texts) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
      expect(text).not.toMatch(/<@all>|evil\.test\)/);
    }
    expect((await kit.deliveries()).every(({ state }) => state === "done")).toBe(true);
  }, 60_000);

  test("quiet hours hold back what is not critical, until their end", async () => {
    const quiet = JSON.stringify({ zone: "UTC", from: "00:00", to: "23:59", weekdays: [0, 1, 2, 3, 4, 5, 6] });
    await addStandard({ quiet });
    await kit.record();
    await kit.record({ severity: "critical" });
    await kit.run();
    expect(receiver.received.map(({ body }) => (JSON.parse(body) as { severity: string }).severity)).toEqual([
      "critical",
    ]);
    kit.move(DAY);
    await kit.run();
    expect(receiver.received).toHaveLength(2);
  });

  test("two hundred events reach twenty endpoints in a few seconds", async () => {
    for (let at = 0; at < 20; at += 1) await addStandard({ name: `e${at}` });
    for (let at = 0; at < 200; at += 1) await kit.record();
    const began = performance.now();
    while (receiver.received.length < 4_000 && performance.now() - began < 60_000) await kit.run();
    expect(receiver.received).toHaveLength(4_000);
    // About ten seconds, with room for machines that do other work.
    expect(performance.now() - began).toBeLessThan(40_000);
  }, 90_000);
});
