import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import type { AsyncTask, Drawing } from "@fairway/wire";
import type { Insertable } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import type { Database } from "../../storage/database.ts";
import type { MidjourneyTable, TaskTable } from "../../storage/tables/schema.ts";
import { createDrawingStore } from "../drawing/store.ts";
import { createTaskStore } from "./store.ts";

async function insertDrawing(database: Database, more: Partial<Insertable<MidjourneyTable>>): Promise<void> {
  const row = {
    code: 1,
    user_id: 1,
    action: "IMAGINE",
    mj_id: "m",
    prompt: "",
    prompt_en: "",
    description: "",
    state: "",
    submit_time: 0,
    start_time: 0,
    finish_time: 0,
    image_url: "",
    status: "SUCCESS",
    progress: "100%",
    fail_reason: "",
    channel_id: 7,
    quota: 0,
    buttons: "",
    properties: "",
    created_at: 0,
    request_id: "r",
  };
  await database.db
    .insertInto("midjourneys")
    .values({ ...row, ...more })
    .execute();
}

async function insertTask(database: Database, more: Partial<Insertable<TaskTable>>): Promise<void> {
  const row = {
    created_at: 0,
    updated_at: 0,
    task_id: "t",
    platform: "suno",
    user_id: 1,
    channel_id: 7,
    quota: 0,
    action: "MUSIC",
    status: "SUCCESS",
    fail_reason: "",
    submit_time: 0,
    start_time: 0,
    finish_time: 0,
    progress: "",
    properties: '{"input":"x"}',
    data: "[1]",
    request_id: "r",
  };
  await database.db
    .insertInto("tasks")
    .values({ ...row, ...more })
    .execute();
}

describe("over HTTP", () => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite"), publicUrl: "https://public.example" });
    members = await signInMembers(app);
    const ann = members.user.userId;
    for (let index = 0; index < 12; index += 1) {
      await insertDrawing(app.database, {
        mj_id: `m${index}`,
        submit_time: 1_000 + index,
        image_url: index === 11 ? "https://cdn.example/x.png" : "",
        user_id: index === 11 ? ann : 1,
        channel_id: index,
      });
      await insertTask(app.database, {
        task_id: `t${index}`,
        submit_time: 1_000 + index,
        user_id: index === 11 ? ann : 1,
        channel_id: index,
        data: index === 11 ? "no json" : "",
      });
    }
  });
  afterAll(() => app.close());

  const drawings = (query = "") => members.admin.data<Drawing[]>(members.admin.get(`/api/mj/${query}`));
  const tasks = (query = "") => members.admin.data<AsyncTask[]>(members.admin.get(`/api/task/${query}`));

  test("drawing tasks are listed ten at a time and narrowed in milliseconds", async () => {
    expect((await drawings()).map((row) => row.mj_id)).toEqual([
      "m11",
      "m10",
      "m9",
      "m8",
      "m7",
      "m6",
      "m5",
      "m4",
      "m3",
      "m2",
    ]);
    expect(await drawings("?p=1")).toHaveLength(2);
    expect(await drawings("?start_timestamp=1003&end_timestamp=1004&channel_id=&mj_id=")).toHaveLength(2);
    expect(await drawings("?mj_id=m3")).toMatchObject([{ mj_id: "m3" }]);
    expect(await drawings("?channel_id=4&start_timestamp=NaN")).toMatchObject([{ channel_id: 4 }]);
    expect(await drawings("?page_size=2&sort=submit_time&order=asc")).toMatchObject([{ mj_id: "m0" }, { mj_id: "m1" }]);
    expect((await members.admin.get("/api/mj")).headers["x-total-count"]).toBe("12");
    expect(await readCode(members.user.get("/api/mj/"))).toBe("AU7");
  });

  test("images are shown through this server while the option says so", async () => {
    const listOwnDrawings = () => members.user.data<Drawing[]>(members.user.get("/api/mj/self/?channel_id=1"));
    expect(await listOwnDrawings()).toMatchObject([
      { mj_id: "m11", channel_id: 0, image_url: "https://public.example/mj/image/m11", code: 1 },
    ]);
    await setOptions(members.root, { ServerAddress: "https://gw.example" });
    expect((await listOwnDrawings())[0]?.image_url).toBe("https://gw.example/mj/image/m11");
    await setOptions(members.root, { MjForwardUrlEnabled: "false" });
    expect((await listOwnDrawings())[0]?.image_url).toBe("https://cdn.example/x.png");
    expect((await drawings("?mj_id=m1"))[0]?.image_url).toBe("");
  });

  test("tasks are listed with their data as JSON, narrowed exactly", async () => {
    expect(await tasks()).toHaveLength(10);
    expect(await tasks("?task_id=t3")).toMatchObject([
      { task_id: "t3", properties: { input: "x" }, data: null, progress: "", channel_id: 3 },
    ]);
    expect(
      await tasks("?platform=suno&action=MUSIC&status=SUCCESS&start_timestamp=1002&end_timestamp=NaN&page_size=100"),
    ).toHaveLength(10);
    expect(await tasks("?status=FAILURE")).toEqual([]);
    expect(await tasks("?channel_id=5")).toMatchObject([{ task_id: "t5" }]);
    const listOwnDrawings = await members.user.data<AsyncTask[]>(members.user.get("/api/task/self?channel_id=1"));
    expect(listOwnDrawings).toMatchObject([{ task_id: "t11", channel_id: 0, data: "no json" }]);
    expect(Object.keys(listOwnDrawings[0] ?? {})).not.toContain("request_id");
    expect(await readCode(members.user.get("/api/task/"))).toBe("AU7");
  });
});

eachDatabase("task stores", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  const page = {
    userId: 0,
    channel_id: 0,
    start_timestamp: 0,
    end_timestamp: 0,
    sort: "",
    order: "",
    offset: 0,
    limit: 10,
  };

  test("read pages and totals", async () => {
    for (const user_id of [5, 6, 5]) {
      await insertDrawing(kit.database, { user_id, prompt: "😀", submit_time: 1_700_000_000_000 });
      await insertTask(kit.database, { user_id });
    }
    const drawings = createDrawingStore(kit);
    expect(await drawings.page({ ...page, userId: 5, mj_id: "", limit: 1 })).toMatchObject({
      total: 2,
      rows: [{ prompt: "😀", submit_time: 1_700_000_000_000 }],
    });
    const tasks = createTaskStore(kit);
    const query = { ...page, task_id: "", platform: "suno", action: "", status: "" };
    expect(await tasks.page({ ...query, userId: 6 })).toMatchObject({ total: 1, rows: [{ data: [1] }] });
    expect((await tasks.page({ ...query, sort: "status", order: "asc" })).rows).toHaveLength(3);
  });
});
