import type { PricingExplanation, PricingRow } from "@fairway/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { consumeRows, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;
let key: string;

beforeAll(async () => {
  gateway = await startRelayApp();
  await gateway.option("SelfUseModeEnabled", false);
  await gateway.option("ModelRatio", JSON.stringify({ priced: 3 }));
  key = await gateway.token();
  const mapping = { "gpt-4": "gpt-4o-mini", house: "gpt-4o-mini", priced: "gpt-4o-mini", lost: "unheard" };
  await gateway.channel([...Object.keys(mapping), "gpt-4o-mini"].join(), { model_mapping: JSON.stringify(mapping) });
}, 60_000);
afterAll(() => gateway.close());

async function charged(model: string): Promise<{ quota: number; other: Record<string, unknown> }> {
  const body = { model, messages: [{ role: "user", content: "hi" }] };
  const response = await gateway.post("/v1/chat/completions", body, key);
  expect([model, response.status]).toEqual([model, 200]);
  await gateway.settled();
  const [row] = await consumeRows(gateway, response.headers.get("x-request-id") ?? "");
  if (!row) throw new Error("nothing was charged");
  return row;
}

// @weakness Money: A name that a channel maps to another model is charged by the name, 150 times what it should be or not at all
it("what is charged, shown and explained for a mapped name is the price of its target", async () => {
  const shown = await gateway.root.must<PricingRow[]>("GET", "/api/pricing");
  const readRatios = (model: string) => {
    const { model_ratio, completion_ratio } = shown.find(({ model_name }) => model_name === model)!;
    return [model_ratio, completion_ratio];
  };
  const target = await charged("gpt-4o-mini");
  for (const model of ["gpt-4", "house"]) {
    const row = await charged(model);
    expect(row.quota).toBe(target.quota);
    expect(row.other["model_ratio"]).toBe(target.other["model_ratio"]);
    expect(readRatios(model)).toEqual(readRatios("gpt-4o-mini"));
    const query = `model=${model}&prompt=1000&completion=0&group=default`;
    const explained = await gateway.root.must<PricingExplanation>("GET", `/api/pricing/explain?${query}`);
    expect(explained.source).toMatch(/^list price of .+, as gpt-4o-mini$/);
  }
  expect(readRatios("priced")[0]).toBe(3);
  expect((await charged("priced")).quota).toBeGreaterThan(target.quota);
  const lost = await gateway.post("/v1/chat/completions", { model: "lost", messages: [] }, key);
  expect(lost.status).toBeGreaterThanOrEqual(400);
});
