// Prices of channels that another program creates here.
import { createDatabase } from "@fairway/testkit/databases";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";

const CANARY = "sk-canary-77ab";
const seen: (string | undefined)[] = [];
const publisher = createServer((request, response) => {
  seen.push(request.headers.authorization);
  const rows = [{ model_name: "there-large", quota_type: 0, model_ratio: 2, completion_ratio: 3 }];
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ success: true, data: rows }));
});

let app: ManagementApp;
let members: Members;
let address: string;
beforeAll(async () => {
  publisher.listen(0, "127.0.0.1");
  await once(publisher, "listening");
  address = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}`;
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(async () => {
  publisher.close();
  await app.close();
});

const send = (body: object) => members.root.data<string[]>(members.root.post("/api/import/prices", body));
const channels = () => [
  { address, key: CANARY, models: { "our-large": "there-large", "our-small": "there-small" } },
  { address: "", key: CANARY, models: { "of-the-vendor": "of-the-vendor" } },
];

test("names the models without a price, and asks no one unless it shall", async () => {
  const lines = await send({ channels: channels() });
  expect(lines).toEqual([
    "- 3 models have no price, so calls are refused until there is one: of-the-vendor, our-large, our-small",
  ]);
  expect(seen).toEqual([]);
});

test("what is about to be written counts as a price", async () => {
  const options = { ModelRatio: '{"of-the-vendor":1}', ModelPrice: '{"our-small":0.1}' };
  const lines = await send({ channels: channels(), options, dry_run: true });
  expect(lines).toEqual(["- 1 model has no price, so calls are refused until there is one: our-large"]);
});

test("takes what the addresses publish, a rehearsal writes nothing", async () => {
  const body = { channels: channels(), price_from_upstream: true };
  const dry = await send({ ...body, dry_run: true });
  expect(app.snapshots.current().options.ModelRatio["our-large"]).toBeUndefined();
  const lines = await send(body);
  expect(lines).toEqual(dry);
  expect(lines).toContain("prices: 1 created");
  expect(lines).toContain(`- prices as ${new URL(address).host} publishes them: our-large`);
  expect(lines.at(-1)).toMatch(/^- 2 models have no price, .*: of-the-vendor, our-small$/);
  expect(app.snapshots.current().options).toMatchObject({
    ModelRatio: { "our-large": "2" },
    CompletionRatio: { "our-large": "3" },
  });
  expect(seen.every((one) => one === `Bearer ${CANARY}`)).toBe(true);
  const audit = await app.database.db.selectFrom("audit_log").selectAll().execute();
  expect(JSON.stringify(audit)).not.toContain(CANARY);
});

test("only the super administrator may send keys to addresses", async () => {
  const refused = members.admin.post("/api/import/prices", { channels: [] });
  expect(await readCode(refused)).toBe(await readCode(members.admin.post("/api/import/litellm", { config: "a: 1" })));
});
