// Runs exchanges of drawings, songs and videos through the real handler, tables and ledger; earlier steps of a sequence first.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseOptions, serverAddress } from "@fairway/wire";
import { createBudgets } from "../../src/billing/budgets/budgets.ts";
import type { Ledger } from "../../src/billing/ledger/ledger.ts";
import { createSqlLedger } from "../../src/billing/ledger/sql/sql-ledger.ts";
import { createPriceBook } from "../../src/billing/pricing/price-book.ts";
import { object, objects, text } from "../../src/dialects/core/read.ts";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import type { Caller } from "../../src/identity/authentication/caller.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { createMemoryClaims } from "../../src/limits/claims-memory.ts";
import { createAdmissionQueue } from "../../src/relay/admission/admission-queue.ts";
import { createCallLimit } from "../../src/relay/admission/call-limit.ts";
import { createRunningRequests } from "../../src/relay/reservation/running.ts";
import { providerByType } from "../../src/providers/registry.ts";
import type { ChannelRecord } from "../../src/providers/core/types.ts";
import { createSnapshot } from "../../src/snapshot/snapshot.ts";
import type { Snapshot } from "../../src/snapshot/types.ts";
import { createLogWriter } from "../../src/storage/log-rows.ts";
import type { Database } from "../../src/storage/database.ts";
import { createTaskHandler, type TaskHandler } from "../../src/tasks/handler.ts";
import { customAction, toActionModel } from "../../src/tasks/midjourney/actions.ts";
import { pollDrawings } from "../../src/tasks/midjourney/poll.ts";
import { notifySignature } from "../../src/tasks/midjourney/submit.ts";
import { pollSongs } from "../../src/tasks/suno/store.ts";
import { pollVideos } from "../../src/tasks/video/poll.ts";
import type { TaskDeps } from "../../src/tasks/types.ts";
import { createTaskUpstream } from "../../src/tasks/upstream.ts";
import { migratedDatabase, quietLog } from "../kit/support.ts";
import { expectSame, VectorMismatch } from "./compare.ts";
import { loadVectors, type Vector } from "./load.ts";
import { createChannelRecord } from "./run-relay.ts";
import { createScript } from "./script.ts";

const START_QUOTA = 10_000_000;
const CALLER: Caller = {
  userId: 1,
  username: "a",
  role: 1,
  group: "default",
  userGroup: "default",
  tokenId: 0,
  tokenName: "",
  isUnlimited: true,
  modelLimits: undefined,
  pinnedChannel: undefined,
  ip: "",
};

/** State that a sequence of exchanges shares. */
interface World {
  readonly database: Database;
  /** Epoch milliseconds. */
  now: number;
  serial: number;
}

export async function runTask(vector: Vector): Promise<void> {
  const database = await migratedDatabase("sqlite::memory:");
  const world: World = { database, now: vector.now, serial: 0 };
  try {
    await database.raw.run(
      "insert into users (id, username, username_key, password, display_name, role, status, quota, \"group\", aff_code, created_at) values (1, 'a', 'a', '', '', 1, 1, ?, 'default', 'x', 0)",
      [START_QUOTA],
    );
    for (const before of earlier(vector)) await step(before, world);
    await step(vector, world);
  } finally {
    await database.close();
  }
}

/** Buttons of drawings, and the models that they are priced by. */
export function runCustomIds(vector: Vector): void {
  for (const row of objects(vector.json, "cases")) {
    const { action, index } = customAction(text(row, "custom_id") ?? "");
    const { custom_id: _id, ...expected } = row;
    expectSame({ action, index, model: toActionModel(action) }, expected, text(row, "custom_id") ?? "");
  }
}

function earlier(vector: Vector): Vector[] {
  const { sequence, step: at } = vector.json;
  if (sequence === undefined) return [];
  return loadVectors()
    .filter(({ json }) => json["sequence"] === sequence && Number(json["step"]) < Number(at))
    .toSorted((one, other) => Number(one.json["step"]) - Number(other.json["step"]));
}

async function step(vector: Vector, world: World): Promise<void> {
  world.now = vector.now;
  const script = createScript(vector, "whole");
  const disabled: number[] = [];
  const deps = createTaskDeps(vector, world, { script, disabled });
  await seed(vector, world);
  const before = await balance(world);
  if (vector.client) await ask(vector, world, createTaskHandler(deps), deps);
  else if (vector.type === 36) await pollSongs(deps);
  else if (isVideo(vector)) await pollVideos(deps);
  else await pollDrawings(deps);
  if (script.failure) throw script.failure;
  const after = await balance(world);
  const refund = vector.json["refund_quota"];
  if (refund !== undefined) expectSame(after - before, refund, "refund");
  if (vector.usage?.["quota"] !== undefined) expectSame(before - after, vector.usage["quota"], "quota");
  if (vector.usage?.["model"] !== undefined && before > after)
    expectSame(await chargedModel(world), vector.usage["model"], "charged model");
  expectSame(disabled.length > 0, vector.json["channel_action"] === "disable", "disabled");
  await compareRow(vector, world);
}

function createTaskDeps(
  vector: Vector,
  world: World,
  { script, disabled }: { readonly script: ReturnType<typeof createScript>; readonly disabled: number[] },
): TaskDeps {
  const { database } = world;
  const clock = { now: () => world.now };
  const snapshot = createSnapshot({
    revision: 1,
    options: parseOptions(Object.entries(buildOptions(vector)).map(([key, value]) => ({ key, value }))),
    prices: createPriceBook(isVideo(vector) ? { ModelPrice: { "kling-video_kling-v1_std_5": 0.14 } } : {}),
    channels: [taskChannel(vector)],
    unusable: [],
  });
  const ledger = createSqlLedger({ database: database.raw, clock, log: quietLog });
  return {
    database,
    clock,
    log: quietLog,
    ledger,
    writeLog: createLogWriter(false),
    snapshots: { current: () => snapshot, refresh: () => Promise.resolve(), subscribe: () => () => undefined },
    authenticator: {
      recheck: () => Promise.resolve(),
      byKey: () => Promise.resolve(CALLER),
      bySession: () => Promise.reject(new Error("no sessions here")),
    },
    upstream: createTaskUpstream({ upstreams: script, http: script.json, userAgent: "fairway", now: clock.now }),
    fetcher: { fetch: ({ url }) => fetched(vector, url), close: () => Promise.resolve() },
    publicUrl: () => serverAddress(snapshot.options),
    sign: (signed) => Buffer.from(signed).toString("hex").padEnd(32, "0"),
    disable: (id) => Promise.resolve(disabled.push(id) > 0),
    async readBody(request) {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      return Buffer.concat(parts);
    },
    readForm: () => Promise.reject(new Error("no forms here")),
    judge: () => Promise.resolve(),
    running: createRunningRequests(() => undefined),
    admission: createAdmission(world, snapshot, ledger),
    random: () => 0.5,
  };
}

/** Nothing is limited here. */
function createAdmission({ database, now }: World, { options }: Snapshot, ledger: Ledger): TaskDeps["admission"] {
  const clock = { now: () => now };
  const claims = createMemoryClaims(clock);
  const metrics = { limited: () => undefined, queued: () => undefined };
  return {
    claims,
    budgets: createBudgets({
      database: database.raw,
      reservations: ledger.budgets,
      log: quietLog,
      onOutage: () => undefined,
    }),
    queue: createAdmissionQueue(),
    calls: createCallLimit({ claims, options: () => options, metrics }),
    metrics,
    recheck: () => Promise.resolve(),
  };
}

function isVideo({ type }: Vector): boolean {
  return providerByType(type)?.videos !== undefined;
}

async function chargedModel({ database }: World): Promise<string | undefined> {
  const [row] = await database.raw.rows<{ model_name: string }>("select model_name from logs order by id desc", []);
  return row?.model_name;
}

function buildOptions(vector: Vector): Record<string, string> {
  const settings = object(vector.channel, "settings") ?? {};
  return {
    ServerAddress: text(settings, "server_address") ?? "",
    MjNotifyEnabled: String(isNotice(vector)),
    AutomaticDisableChannelEnabled: "true",
  };
}

function isNotice({ client }: Vector): boolean {
  return text(client, "path") === "/mj/notify";
}

function taskChannel(vector: Vector): ChannelRecord {
  const models = ["imagine", "upscale", "describe", "upload", "inpaint", "modal"].map((action) => `mj_${action}`);
  return {
    ...createChannelRecord(vector),
    id: Number(vector.channel["id"]),
    models: new Set([...models, "swap_face", "suno_music", "suno_lyrics", "kling-v1"]),
  };
}

async function fetched(vector: Vector, url: string) {
  const [expected] = vector.steps;
  if (expected?.request.url !== url) throw new AppError("unsafe_url");
  const headers = Object.fromEntries(
    Object.entries((object(expected.response, "headers") ?? {}) as Record<string, string>).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]),
  );
  const bytes = Buffer.from(text(expected.response, "body_hex") ?? "", "hex");
  await Promise.resolve();
  return {
    status: Number(expected.response["status"]),
    headers,
    body: (async function* () {
      yield bytes;
    })(),
  };
}

/** Tasks that an exchange takes for granted. */
async function seed(vector: Vector, world: World): Promise<void> {
  const { json } = vector;
  if (json["sequence"] === "mjplus-inpaint" && json["step"] === 1)
    await drawing(vector, world, {
      mj_id: "1733000300000456",
      action: "UPSCALE",
      status: "SUCCESS",
      progress: "100%",
      // A button belongs to the drawing that reported it.
      buttons: JSON.stringify([{ customId: text(object(vector.client, "body"), "customId") }]),
    });
  if (json["sequence"] !== undefined) return;
  if (isNotice(vector) || (!vector.client && vector.type !== 36))
    await drawing(vector, world, { mj_id: "1733000000000123" });
  if (!vector.client && vector.type === 36) await song(vector, world);
}

async function drawing(vector: Vector, { database, serial }: World, more: object): Promise<void> {
  const texts = { prompt_en: "", state: "", image_url: "", status: "", fail_reason: "", buttons: "", properties: "" };
  await database.db
    .insertInto("midjourneys")
    .values({
      ...texts,
      code: 1,
      user_id: 1,
      action: "IMAGINE",
      mj_id: "",
      prompt: "red kite",
      description: "Submit success",
      submit_time: 1_733_000_000_000,
      start_time: 0,
      finish_time: 0,
      progress: "0%",
      channel_id: Number(vector.channel["id"]),
      quota: 50_000,
      created_at: 1_733_000_000,
      request_id: `seed-${serial}`,
      charged: 1,
      ...more,
    })
    .execute();
}

async function song(vector: Vector, { database }: World): Promise<void> {
  const at = 1_733_000_000;
  const row = {
    created_at: at,
    updated_at: at,
    submit_time: at,
    start_time: 0,
    finish_time: 0,
    fail_reason: "",
    properties: "{}",
  };
  const id = text(object(vector.json, "task_after"), "task_id") ?? "";
  const task = {
    task_id: id,
    platform: "suno",
    user_id: 1,
    channel_id: Number(vector.channel["id"]),
    quota: 50_000,
    action: "MUSIC",
  };
  const state = { status: "NOT_START", progress: "0%", data: "null", request_id: "seed-0", charged: 1 };
  await database.db
    .insertInto("tasks")
    .values({ ...row, ...task, ...state })
    .execute();
}

async function ask(vector: Vector, world: World, handle: TaskHandler, deps: TaskDeps): Promise<void> {
  const { client, answer } = vector;
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const arrival = { request, response, method: request.method ?? "", path, ip: "", startedAt: performance.now() };
    handle({ ...arrival, requestId: `request-${++world.serial}` }).catch((error: unknown) => {
      response.writeHead(AppError.from(error).status).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const method = text(client, "method") ?? "GET";
    const response = await fetch(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}${buildPath(vector, deps)}`,
      {
        method,
        ...(method === "GET" ? {} : { body: JSON.stringify(client?.["body"]) }),
      },
    );
    expectSame(response.status, answer?.["status"], "status");
    const bytes = Buffer.from(await response.arrayBuffer());
    const hex = text(answer, "body_hex");
    if (hex !== undefined) return expectSame(bytes.toString("hex"), hex, "body");
    const expected = answer?.["body"] ?? null;
    const body = bytes.length === 0 ? null : (JSON.parse(unsigned(bytes.toString("utf8"))) as unknown);
    expectSame(body, JSON.parse(unsigned(JSON.stringify(expected))), "body");
  } finally {
    server.close();
  }
}

/** Reports come by an address of their own; the vector shows the family's open one. */
function buildPath(vector: Vector, deps: TaskDeps): string {
  const path = text(vector.client, "path") ?? "";
  if (!isNotice(vector)) return path;
  const query = new URLSearchParams({ c: String(Number(vector.channel["id"])), r: "seed-0", h: "" });
  query.set("t", notifySignature(query, deps));
  return `${path}?${query.toString()}`;
}

/** Addresses of pictures carry a signature and a number that changes. */
function unsigned(json: string): string {
  return json.replaceAll(/(\/mj\/image\/\d+)\?[^"]*/g, "$1");
}

async function balance({ database }: World): Promise<number> {
  const [user] = await database.raw.rows<{ quota: number }>("select quota from users where id = 1", []);
  return user?.quota ?? 0;
}

async function compareRow(vector: Vector, { database }: World): Promise<void> {
  const expected = object(vector.json, "task_after");
  if (!expected) return;
  const rows =
    vector.type === 36 || isVideo(vector)
      ? await database.db
          .selectFrom("tasks")
          .selectAll()
          .where("task_id", "=", text(expected, "task_id") ?? "")
          .execute()
      : await database.db
          .selectFrom("midjourneys")
          .selectAll()
          .where("mj_id", "=", text(expected, "mj_id") ?? "")
          .orderBy("id")
          .execute();
  const row = rows.at(-1) as unknown as JsonObject | undefined;
  if (!row) throw new VectorMismatch("there is no row");
  const shown = Object.fromEntries(
    Object.keys(expected).map((name) => [name, name === "data" ? JSON.parse(text(row, name) ?? "null") : row[name]]),
  );
  expectSame(shown, expected, "row");
}
