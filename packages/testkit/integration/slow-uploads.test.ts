// A rolling restart while clients are still sending: what arrives during the drain is served, the rest gets an error.
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";

let upstream: Upstream;
beforeAll(async () => void (upstream = await startUpstream()));
afterAll(() => upstream?.stop());

const BODY = JSON.stringify({ model: "plain", messages: [{ role: "user", content: "x".repeat(50_000) }] });

async function open(drainSeconds: string): Promise<{ gateway: GatewayProcess; key: string }> {
  const gateway = await startGateway({ env: { FAIRWAY_DRAIN_SECONDS: drainSeconds } });
  const root = await signIn(gateway.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain" });
  return { gateway, key: await createToken(root) };
}

interface Upload {
  readonly sending: ClientRequest;
  readonly answer: Promise<{ readonly status: number; readonly text: string }>;
}

/** Sends the head and half of the body. */
async function begin(url: string, key: string): Promise<Upload> {
  const sending = request(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(BODY),
    },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) =>
    sending.once("response", resolve).once("error", reject),
  ).then(async (response) => {
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") };
  });
  answer.catch(() => undefined);
  sending.write(BODY.slice(0, 25_000));
  await sleep(300);
  return { sending, answer };
}

test("an upload that ends within the drain is served", { timeout: 60_000 }, async () => {
  const { gateway, key } = await open("20");
  const { sending, answer } = await begin(gateway.url, key);
  const stopped = gateway.stop();
  await gateway.logged("stopping");
  await expect(fetch(gateway.url)).rejects.toThrow();
  await sleep(1_500);
  sending.end(BODY.slice(25_000));
  const { status, text } = await answer;
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ object: "chat.completion" });
  const servedAt = performance.now();
  expect(await stopped).toBe(0);
  expect(performance.now() - servedAt).toBeLessThan(10_000);
});

test("an upload that outlives the drain fails in its protocol", { timeout: 60_000 }, async () => {
  const { gateway, key } = await open("2");
  const { answer } = await begin(gateway.url, key);
  const startedAt = performance.now();
  const stopped = gateway.stop();
  const { status, text } = await answer;
  expect(status).toBe(503);
  expect(JSON.parse(text)).toMatchObject({ error: { code: "server_shutdown" } });
  expect(await stopped).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});
