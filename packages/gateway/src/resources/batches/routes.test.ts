import { createDatabase } from "@fairway/testkit/databases";
import type { Batch, BatchDetail, BatchReserve } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildBatchRow } from "../../../test/kit/batch-row.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";
import type { BatchRow } from "../../batches/row.ts";

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(() => app.close());

async function add(userId: number, more: Partial<BatchRow> = {}): Promise<string> {
  const row = buildBatchRow({ user_id: userId, ...more });
  await app.database.db.insertInto("batches").values(row).execute();
  return row.id;
}

const list = (caller: "admin" | "user", path: string) => members[caller].data<Batch[]>(members[caller].get(path));
const ids = async (query: string) => (await list("admin", `/api/batch/?${query}`)).map(({ id }) => id);

describe("lists", () => {
  test("administrators see all batches and filter them, users their own without the channel", async () => {
    const mine = await add(members.user.userId);
    const other = await add(1, { phase: "stuck", token_id: 4, channel_id: 8, models: '{"claude-haiku-4-5":{}}' });
    expect(await ids("")).toEqual([other, mine]);
    expect(await ids(`user_id=${members.user.userId}`)).toEqual([mine]);
    expect(await ids("phase=stuck")).toEqual([other]);
    expect(await ids("phase=tuc")).toEqual([]);
    expect(await ids("token_id=4")).toEqual([other]);
    expect(await ids("channel_id=7")).toEqual([mine]);
    expect(await ids("model=gpt-5.6")).toEqual([mine]);
    expect(await ids("model=gpt-5")).toEqual([]);
    expect(await ids("model=gpt-5%256")).toEqual([]);
    expect(await ids("start_timestamp=1002")).toEqual([other]);
    expect(await ids("end_timestamp=1001")).toEqual([mine]);
    expect(await ids("sort=total&order=asc&page_size=1&p=1")).toHaveLength(1);
    const own = await list("user", "/api/batch/self?channel_id=8&user_id=1");
    expect(own).toMatchObject([{ id: mine, channel_id: 0, deposit: 90, metadata: { job: "nightly" } }]);
    expect(own[0]?.models).toEqual({ "gpt-5.6": { items: 3, estimate: 90, prompt_tokens: 30, uncapped: 1 } });
    expect(JSON.stringify(own)).not.toMatch(/UPSTREAM|azure|0123456789abcdef|in_progress/);
    expect(await readCode(members.user.get("/api/batch/"))).toBe("AU7");
  });

  test("a user reads how much is deposited for batches that are not settled", async () => {
    const before = await members.user.data<BatchReserve>(members.user.get("/api/batch/reserve"));
    for (const phase of ["stuck", "settled", "refused", "ended"] as const) await add(members.user.userId, { phase });
    expect(await members.user.data(members.user.get("/api/batch/reserve"))).toEqual({
      batches: before.batches + 2,
      deposit: before.deposit + 180,
    });
    expect(await members.root.data(members.root.get("/api/batch/reserve"))).toEqual({ batches: 1, deposit: 90 });
  });

  test("a batch that was refused for its lines shows their faults", async () => {
    const errors = [{ code: "invalid_json_line", line: 2, message: "not JSON", param: null }];
    const wire = JSON.stringify({ status: "failed", errors: { object: "list", data: errors } });
    const id = await add(members.user.userId, { phase: "refused", error: "line_errors", wire });
    expect(await members.user.data<BatchDetail>(members.user.get(`/api/batch/${id}`))).toMatchObject({
      phase: "refused",
      outcome: "failed",
      channel_id: 0,
      errors,
      prices: [],
    });
  });
});

const CALLS = [
  ["get", ""],
  ["get", "/item?custom_id=a"],
  ["post", "/cancel"],
] as const;

test.each(CALLS)("%s %s knows only own batches, administrators know all", async (method, rest) => {
  const [mine, other] = [await add(members.user.userId), await add(1)];
  const ask = (who: keyof Members, id: string) => members[who][method](`/api/batch/${id}${rest}`, {});
  for (const id of [other, "batch_unknown", "a%20b", "x".repeat(300)])
    expect(await readRefusal(ask("user", id))).toEqual([200, "BT1", "Batch does not exist."]);
  expect(await readCode(ask("user", mine))).not.toBe("BT1");
  expect(await readCode(ask("admin", other))).not.toBe("BT1");
});

test("only administrators have results read again, only the super administrator abandons", async () => {
  const id = await add(members.user.userId, { phase: "stuck" });
  expect(await readCode(members.user.post(`/api/batch/${id}/settle`, {}))).toBe("AU7");
  expect(await readCode(members.admin.post(`/api/batch/${id}/abandon`, {}))).toBe("AU7");
  expect(await readCode(members.admin.post(`/api/batch/${id}/settle`, {}))).toBe("BT4");
});

test.each(["creating", "open", "ended", "settled", "refused"] as const)(
  "a batch that is %s is not abandoned",
  async (phase) => {
    const id = await add(members.user.userId, { phase });
    expect(await readRefusal(members.root.post(`/api/batch/${id}/abandon`, {}))).toEqual([
      409,
      "BT2",
      `The batch is ${phase}, and this needs one that is stuck.`,
    ]);
  },
);
