import { afterAll, beforeAll, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../kit/relay-app.ts";

const PUBLIC_URL = "https://ai.example.com";

let gateway: RelayApp;
beforeAll(async () => void (gateway = await startRelayApp({ FAIRWAY_PUBLIC_URL: PUBLIC_URL })));
afterAll(() => gateway.close());

it("drawings use the public URL where no other is set", async () => {
  await gateway.option("MjNotifyEnabled", true);
  await gateway.channel("mj_imagine", { type: 2, key: "mj-secret-1" });
  const accepted = { code: 1, description: "Submitted", result: "1700000000000001" };
  gateway.upstream.script("/mj/submit/imagine", () => ({ status: 200, body: accepted }));
  const key = await gateway.token({ unlimited_quota: false, remain_quota: 10_000_000 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ prompt: "a harbour" });
  const submitted = await fetch(`${gateway.url}/mj/submit/imagine`, { method: "POST", headers, body });
  expect(await submitted.json()).toMatchObject({ code: 1 });
  const asked = gateway.upstream.requests.find(({ path }) => path === "/mj/submit/imagine");
  expect(String(asked?.json?.["notifyHook"])).toContain(`${PUBLIC_URL}/mj/notify?`);

  await gateway.database.raw.run("update midjourneys set image_url = 'https://pictures.example/1.png'", []);
  const shown = await fetch(`${gateway.url}/mj/task/${accepted.result}/fetch`, { headers });
  const { imageUrl } = (await shown.json()) as { imageUrl: string };
  expect(imageUrl).toContain(`${PUBLIC_URL}/mj/image/${accepted.result}?`);
});
