// Import of another gateway's configuration, sent by its owner.
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";

const CANARY = "canary-19c4";
const CONFIG = `
model_list:
  - model_name: fast
    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/OPENAI }
  - model_name: slow
    litellm_params: { model: openai/unpriced-model, api_key: sk-${CANARY}-file, region: here }
router_settings: { num_retries: 3, routing_strategy: least-busy }
`;

let app: ManagementApp;
let members: Members;
beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(() => app.close());

const send = (body: object) => members.root.post("/api/import/litellm", body);
const names = async () =>
  (await app.database.db.selectFrom("channels").select("models").execute()).map(({ models }) => models);

test("a dry run says the same and makes nothing, a second run makes nothing more", async () => {
  const body = { config: CONFIG, variables: { OPENAI: `sk-${CANARY}-variable` } };
  const dry = await members.root.data<string[]>(send({ ...body, dry_run: true }));
  expect(await names()).toEqual([]);
  const lines = await members.root.data<string[]>(send(body));
  expect(lines).toEqual(dry);
  expect(lines).toContain("channels: 2 created");
  expect(lines).toContain("- region of slow is not imported");
  expect(lines.join("\n")).toMatch(/no price, so calls are refused until there is one: .*slow/);
  expect(await names()).toEqual(["fast", "slow"]);
  expect(app.snapshots.current().options).toMatchObject({ RetryTimes: 3, ChannelStrategy: "least_busy" });
  expect(await members.root.data<string[]>(send(body))).toContain("channels: 2 unchanged");
});

test("no key of the file or of a variable is in the audit log", async () => {
  const rows = await app.database.db
    .selectFrom("audit_log")
    .selectAll()
    .where("action", "=", "litellmImport")
    .execute();
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(CANARY);
});

test("a variable of the gateway itself is not read", async () => {
  const config = CONFIG.replace("OPENAI", "PATH");
  const lines = await members.root.data<string[]>(send({ config, dry_run: true }));
  expect(lines.join("\n")).toContain("fast: the variable PATH is not set");
});

test("what is no configuration is refused without quoting it", async () => {
  const refused = await send({ config: `key: sk-${CANARY}` });
  expect(refused.body).toMatchObject({ success: false, field: "config" });
  expect(await readCode(send({ config: "{ sk-: [" }))).toBe((refused.body as { code: string }).code);
  expect(JSON.stringify(refused.body)).not.toContain(CANARY);
  expect(await readCode(members.admin.post("/api/import/litellm", { config: CONFIG }))).toBe("AU7");
});
