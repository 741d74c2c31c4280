import { request as httpRequest } from "node:http";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenPromises } from "./declared-responses.ts";
import { seeded, textFor, valueFor, type Schema } from "./fuzz-values.ts";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";
import { setOptions } from "../kit/members.ts";
import { recordingLog } from "../kit/support.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Reply {
  readonly status: number;
  /** With the headers before it. */
  readonly text: string;
  readonly body: string;
  readonly ms: number;
}

const CANARY = "canary-7f3a";
const ROUNDS = 12;
const SLOW_MS = 5_000;
/** Streams stay open by themselves; a moment shows how they begin. */
const STREAM_MS = 150;

eachDatabase("fuzzing every call of the OpenAPI document", (open) => {
  let app: ManagementApp;
  const { log, lines } = recordingLog();

  beforeAll(async () => {
    const refuse = () => Promise.reject(Object.assign(new Error(`no network: ${CANARY}`), { code: "ENETUNREACH" }));
    const failed = {
      isOk: false,
      message: "failed",
      milliseconds: 1,
      model: "",
      usage: undefined,
      key: undefined,
      upstreamError: undefined,
    };
    app = await startManagementApp({
      url: await open(),
      log,
      operations: { http: refuse, probe: () => Promise.resolve(failed), probeBetas: () => Promise.resolve(undefined) },
    });
    const root = await app.signIn("root");
    await setOptions(root, {
      ServerAddress: "https://gw.example",
      StripeApiUrl: "http://127.0.0.1:1",
      StripeSecretKey: `${CANARY}-stripe`,
      StripeWebhookSecret: `${CANARY}-webhook`,
      SMTPToken: `${CANARY}-mail`,
      GitHubClientSecret: `${CANARY}-github`,
      EpayKey: `${CANARY}-epay`,
    });
    for (const name of ["one", "two"]) {
      const body = {
        type: 1,
        name,
        key: `${CANARY}-channel`,
        models: "m",
        group: "default",
        base_url: "http://127.0.0.1:1",
      };
      await root.data(root.post("/api/channel/", body));
    }
    await root.data(root.post("/api/user/", { username: "ann", password: `${CANARY}-password` }));
    await root.data(root.post("/api/token/", { name: "t", remain_quota: 5, expired_time: -1 }));
  }, 60_000);
  afterAll(() => app.close());

  /** A fresh session, so that calls which end sessions do not end the test. */
  async function createSessionHeaders(userId: number): Promise<Record<string, string>> {
    if (userId === 0) return {};
    const back = { role: userId === 1 ? 100 : 1, status: 1, deleted_at: null };
    await app.database.db.updateTable("users").set(back).where("id", "=", userId).execute();
    const value = await app.identity.sessions.open({ userId, ip: "", userAgent: "" });
    return { cookie: `session=${value}`, "new-api-user": String(userId) };
  }

  function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | undefined,
  ): Promise<Reply> {
    const started = performance.now();
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(app.baseUrl + path, { method, agent: false, headers }, (incoming) => {
        const head = JSON.stringify(incoming.headers);
        const chunks: Buffer[] = [];
        const done = () => {
          const body = Buffer.concat(chunks).toString();
          resolve({ status: incoming.statusCode ?? 0, text: head + body, body, ms: performance.now() - started });
        };
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", done).on("error", done);
        if (incoming.headers["content-type"]?.includes("event-stream")) {
          setTimeout(() => void incoming.destroy(), STREAM_MS);
          incoming.on("close", done);
        }
      });
      outgoing.setTimeout(2 * SLOW_MS, () => outgoing.destroy(new Error(`${method} ${path} hangs`)));
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  async function once(method: string, path: string, operation: Operation, random: () => number): Promise<string[]> {
    const { place, body } = inputFor(path, operation, random);
    const userId = random() < 0.7 ? 1 : random() < 0.5 ? 2 : 0;
    const content =
      body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
    const reply = await send(method, place, { ...(await createSessionHeaders(userId)), ...content }, body);
    const broken = brokenPromises(operation.operationId, place.split("?")[0] ?? "", reply.body);
    return [...listFaults(reply), ...broken].map(
      (fault) => `${fault}: ${method} ${place.slice(0, 400)} ${body?.slice(0, 600) ?? ""}`,
    );
  }

  // @weakness Injection and parsing: Some input ends in an error of the server
  test("no 5xx, no hang, no leak, whatever is sent", async () => {
    const document = (await app.anonymous().get("/api/openapi.json")).body as {
      paths: Record<string, Record<string, Operation>>;
    };
    const random = seeded(20_261_121);
    const faults: string[] = [];
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        for (let round = 0; round < ROUNDS; round += 1)
          faults.push(...(await once(method.toUpperCase(), path, operation, random)));
      }
    }
    expect(faults).toEqual([]);
    expect((await app.anonymous().get("/api/status")).status).toBe(200);
    expect(lines()).not.toContain(CANARY);
  }, 300_000);
});

function inputFor(path: string, { parameters, requestBody }: Operation, random: () => number) {
  const query = new URLSearchParams();
  let place = path;
  for (const { name, in: where, schema } of parameters) {
    const text = textFor(schema, random);
    if (where === "path") place = place.replace(`{${name}}`, encodeURIComponent(text.toWellFormed().slice(0, 200)));
    else if (where === "query" && random() < 0.7) query.append(name, text.slice(0, 2_000));
  }
  const schema = requestBody?.content["application/json"]?.schema;
  const body = schema ? JSON.stringify(valueFor(schema, random) ?? null) : undefined;
  const text = query.toString();
  return { place: text === "" ? place : `${place}?${text}`, body };
}

/** Words that only the inside of the program says. */
const INSIDE = /SQLITE_|ER_[A-Z]{4}|syntax error|near "|duplicate key|node_modules|\.ts:\d/;

function listFaults({ status, text, ms }: Reply): string[] {
  const faults: string[] = [];
  if (status >= 500) faults.push(String(status));
  if (text.includes(CANARY)) faults.push("leak");
  if (INSIDE.test(text)) faults.push("internals");
  if (ms > SLOW_MS) faults.push(`${ms} ms`);
  return faults;
}
