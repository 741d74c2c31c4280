import { BUCKET_REGION, startBucket, type Bucket } from "@fairway/testkit/bucket";
import { eachDatabase } from "@fairway/testkit/databases";
import { startLogCollector, type LogCollector } from "@fairway/testkit/log-collector";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { DIRECT } from "../../lib/net/network.ts";
import { createSend } from "../../lib/net/send.ts";
import { Secret } from "../../lib/secret.ts";
import { createCursorStore, EXPORT_MARKS } from "./cursor.ts";
import type { Destination } from "./destination.ts";
import { createExporter, type Exporter } from "./exporter.ts";
import { createHorizon } from "../../lib/async/horizon.ts";
import { createOtlpDestination } from "./otlp.ts";
import { createS3Destination } from "./s3.ts";

const SETTLE_MS = 75_000;
const send = createSend(DIRECT);
const confirm = () => Promise.resolve();

eachDatabase("the export of log rows", (open) => {
  let kit: StoreKit;
  let bucket: Bucket;
  let collector: LogCollector;
  let elapsed: number;
  let lines: string[];
  let counted: string[];

  beforeAll(async () => {
    kit = await openStoreKit(await open());
    bucket = await startBucket();
    collector = await startLogCollector();
  });
  afterAll(async () => {
    await kit.database.close();
    await bucket.stop();
    await collector.stop();
  });
  beforeEach(async () => {
    elapsed = 0;
    lines = [];
    counted = [];
    await kit.database.raw.run("delete from logs", []);
    for (const topic of EXPORT_MARKS) await kit.database.raw.run("delete from revisions where topic = ?", [topic]);
    kit.clock.set(1_800_000_000);
  });
  afterEach(() => {
    bucket.refuse(undefined);
    collector.answer(undefined);
  });

  const exporter = (destination: Destination, from: "oldest" | "now" = "oldest"): Exporter => {
    const say = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
    return createExporter({
      database: kit.database,
      logs: kit.database,
      destination,
      horizon: createHorizon(SETTLE_MS, () => elapsed),
      from,
      clock: kit.clock,
      elapsed: () => elapsed,
      log: { info: say, warn: say },
      metrics: {
        logExportLag: (name, seconds) => void counted.push(`${name} lag ${seconds}`),
        logRowsExported: (name, result, rows) => void (rows > 0 && counted.push(`${name} ${result} ${rows}`)),
        logExportFailed: (name, reason) => void counted.push(`${name} failed ${reason}`),
      },
    });
  };
  const toBucket = (path: string, rowsAtOnce = 3) =>
    createS3Destination({
      send,
      url: `${bucket.url}/${path}`,
      region: BUCKET_REGION,
      keyId: bucket.keyId,
      key: new Secret(bucket.key),
      clock: kit.clock,
      rowsAtOnce,
    });
  const toCollector = (rowsAtOnce = 3) =>
    createOtlpDestination({
      send,
      endpoint: collector.url,
      headers: { authorization: "Bearer c" },
      version: "1.2.3",
      rowsAtOnce,
    });
  const add = (...requests: string[]) =>
    insertLogs(
      kit.database,
      requests.map((request_id) => ({ request_id, created_at: 1_799_999_900, quota: 5 })),
    );
  const run = (one: Exporter) => one.run(new AbortController().signal, confirm);
  /** Makes all current rows final. */
  const settle = async (one: Exporter) => {
    await run(one);
    elapsed += SETTLE_MS;
    await run(one);
  };
  const inBucket = (path: string) => {
    const names = bucket.names().filter((name) => name.startsWith(`${path}/`));
    return { names, rows: bucket.lines().filter(({ request_id }) => String(request_id).startsWith(path)) };
  };
  const ids = async () =>
    (await kit.database.raw.rows<{ id: number }>("select id from logs order by id", [])).map(({ id }) => id);

  test("rows reach the bucket as gzipped lines, in objects that are named after their ids", async () => {
    await add("a1", "a2", "a3", "a4", "a5");
    const [first = 0] = await ids();
    const one = exporter(toBucket("a"));
    await settle(one);
    const digits = (id: number) => String(id).padStart(19, "0");
    const { names, rows } = inBucket("a");
    expect(names).toEqual([
      `a/${digits(1)}-${digits(first + 2)}.jsonl.gz`,
      `a/${digits(first + 3)}-${digits(first + 4)}.jsonl.gz`,
    ]);
    expect(rows.map(({ request_id }) => request_id)).toEqual(["a1", "a2", "a3", "a4", "a5"]);
    expect(rows[0]).toMatchObject({
      id: first,
      time: "2027-01-15T07:58:20.000Z",
      quota: 5,
      is_stream: false,
      group: "default",
    });
    expect(counted).toContain("s3 sent 3");
    expect(counted.at(-1)).toBe("s3 lag 0");
    expect(one.status()).toEqual({ isNormal: true, detail: "has all rows" });
  });

  test("rows reach the collector as log records", async () => {
    await add("b1", "b2", "b3", "b4");
    await insertLogs(kit.database, [{ request_id: "b5", type: 5, content: "no channel", created_at: 1_799_999_950 }]);
    await settle(exporter(toCollector()));
    const records = collector.records.filter(({ attributes }) =>
      String(attributes["fairway.request_id"]).startsWith("b"),
    );
    expect(records.map(({ attributes }) => attributes["fairway.request_id"])).toEqual(["b1", "b2", "b3", "b4", "b5"]);
    expect(records[0]).toMatchObject({ timeUnixNano: "1799999900000000000", severityText: "INFO" });
    expect(records[4]).toMatchObject({ severityText: "ERROR", body: { stringValue: "no channel" } });
    expect(records[4]?.attributes).toMatchObject({ "fairway.log.type": "error", "gen_ai.request.model": "gpt-4o" });
    expect(collector.authorization).toBe("Bearer c");
  });

  const onServers = open.kind === "sqlite" ? [] : ["visible"];
  test.each(onServers)("a row that commits late, below rows that are %s already, is not left out", async () => {
    const one = exporter(toBucket("c"));
    const released = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const late = kit.database.db.transaction().execute(async (trx) => {
      await insertLogs({ ...kit.database, db: trx }, [{ request_id: "c-late" }]);
      begun.resolve();
      await released.promise;
    });
    await begun.promise;
    await add("c-early");
    await run(one);
    elapsed += SETTLE_MS - 1;
    await run(one);
    expect(inBucket("c").rows).toEqual([]);
    released.resolve();
    await late;
    elapsed += 1;
    await run(one);
    expect(inBucket("c").rows.map(({ request_id }) => request_id)).toEqual(["c-late", "c-early"]);
  });

  test("a batch whose confirmation is lost is sent again under the same name, and doubles nothing", async () => {
    await add("d1", "d2");
    const one = exporter(toBucket("d", 10));
    bucket.refuse({ status: 500, isStored: true });
    await settle(one);
    expect(inBucket("d").rows).toHaveLength(2);
    // More rows are final now; the batch in progress stays as it was stored.
    await add("d3");
    bucket.refuse(undefined);
    const next = exporter(toBucket("d", 10));
    await settle(next);
    elapsed += 60_000;
    await run(next);
    const { names, rows } = inBucket("d");
    expect(names).toHaveLength(2);
    expect(rows.map(({ request_id }) => request_id)).toEqual(["d1", "d2", "d3"]);
  });

  test("a replica that lost the lead sends nothing and moves nothing", async () => {
    await add("e1");
    const one = exporter(toBucket("e"));
    await run(one);
    elapsed += SETTLE_MS;
    const lost = one.run(new AbortController().signal, () => Promise.reject(new Error("another replica leads")));
    await expect(lost).rejects.toThrow("another replica leads");
    expect(inBucket("e").names).toEqual([]);
    expect((await createCursorStore(kit.database, "s3").read()).done).toBe(0);
  });

  test("two leaders at once leave each row once in the bucket", async () => {
    await add("f1", "f2", "f3", "f4", "f5", "f6", "f7");
    const [one, two] = [exporter(toBucket("f", 2)), exporter(toBucket("f", 2))];
    await Promise.all([run(one), run(two)]);
    elapsed += SETTLE_MS;
    await Promise.all([run(one), run(two)]);
    elapsed += 60_000;
    await Promise.all([run(one), run(two)]);
    expect(inBucket("f").rows.map(({ request_id }) => request_id)).toEqual(["f1", "f2", "f3", "f4", "f5", "f6", "f7"]);
  });

  const REFUSALS = [
    [{ status: 403, code: "AccessDenied" }, "denied", "the bucket answers 403 AccessDenied: let the key put objects"],
    [{ status: 507, code: "XMinioStorageFull" }, "full", "the bucket answers 507 XMinioStorageFull: make room"],
    [{ status: 503, code: "SlowDown" }, "busy", "the bucket answers 503 SlowDown: wait"],
    [{ status: 404, code: "NoSuchBucket" }, "missing", "make the bucket, or correct FAIRWAY_LOG_EXPORT_S3_URL"],
    [{ status: 301, code: "PermanentRedirect" }, "refused", "set FAIRWAY_LOG_EXPORT_S3_REGION"],
  ] as const;
  test.each(REFUSALS)(
    "a bucket that answers %o is one line with the cure, and nothing is lost",
    async (refusal, reason, said) => {
      await add("g1", "g2");
      const one = exporter(toBucket(`g${reason}`));
      bucket.refuse(refusal);
      await settle(one);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(said);
      expect(lines[0]).not.toContain(bucket.key);
      expect(counted).toContain(`s3 failed ${reason}`);
      expect(counted.at(-1)).toBe("s3 lag 100");
      expect(one.status()?.isNormal).toBe(false);
      const before = bucket.puts;
      for (let runs = 0; runs < 20; runs += 1) {
        elapsed += 5_000;
        await run(one);
      }
      // Pauses grow: 1, 2, 4, 8, 16, 32, 64 s.
      expect(counted.filter((line) => line.includes("failed"))).toHaveLength(7);
      expect(lines).toHaveLength(1);
      bucket.refuse(undefined);
      elapsed += 300_000;
      await run(one);
      expect(bucket.puts).toBe(before + 1);
      expect(inBucket(`g${reason}`).names).toHaveLength(1);
      expect(lines[1]).toContain("log rows are exported again");
      expect(one.status()).toEqual({ isNormal: true, detail: "has all rows" });
    },
  );

  test("a wrong key is named by its variables, and never shown", async () => {
    await add("h1");
    const destination = createS3Destination({
      send,
      url: `${bucket.url}/h`,
      region: BUCKET_REGION,
      keyId: bucket.keyId,
      key: new Secret("a wrong secret"),
      clock: kit.clock,
    });
    await settle(exporter(destination));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("403 SignatureDoesNotMatch: correct FAIRWAY_LOG_EXPORT_S3_KEY_ID");
    expect(lines[0]).not.toContain("wrong secret");
  });

  test("a collector that refuses or is away keeps its rows waiting, and its own pause holds", async () => {
    await add("i1");
    const one = exporter(toCollector());
    collector.answer({ status: 429, headers: { "retry-after": "120" } });
    await settle(one);
    expect(lines[0]).toContain("the collector answers 429");
    elapsed += 119_000;
    const asked = collector.requests;
    await run(one);
    expect(collector.requests).toBe(asked);
    collector.answer({ status: 401 });
    elapsed += 1_000;
    await run(one);
    expect(lines[1]).toContain("the collector answers 401: correct FAIRWAY_LOG_EXPORT_OTLP_HEADERS");
    collector.answer(undefined);
    elapsed += 300_000;
    await run(one);
    expect(collector.records.filter(({ attributes }) => attributes["fairway.request_id"] === "i1")).toHaveLength(1);
    await add("i2");
    const closed = await startLogCollector();
    await closed.stop();
    await settle(exporter(createOtlpDestination({ send, endpoint: closed.url, headers: {}, version: "1" })));
    expect(lines.at(-1)).toContain("ECONNREFUSED: start it, or correct FAIRWAY_LOG_EXPORT_OTLP_ENDPOINT");
  });

  test("rows that a collector refuses for good are counted and said", async () => {
    await add("j1", "j2");
    collector.answer({ status: 200, body: '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too long"}}' });
    await settle(exporter(toCollector()));
    expect(counted).toContain("otlp rejected 1");
    expect(lines[0]).toContain("refused log rows for good");
  });

  test("an export may begin with the rows of now", async () => {
    await add("k-old");
    const one = exporter(toBucket("k"), "now");
    await settle(one);
    await add("k-new");
    await settle(one);
    elapsed += 60_000;
    await run(one);
    expect(inBucket("k").rows.map(({ request_id }) => request_id)).toEqual(["k-new"]);
  });

  test("a log that was replaced is not taken for the old one", async () => {
    await add("l1");
    await run(exporter(toBucket("l")));
    await kit.database.raw.run("update revisions set revision = 999999999 where topic = 'log-export-s3'", []);
    await run(exporter(toBucket("l")));
    expect(lines[0]).toContain("the log was replaced, so delete the rows log-export-%");
  });
});
