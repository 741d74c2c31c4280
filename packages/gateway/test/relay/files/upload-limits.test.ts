import { once } from "node:events";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { useTenants } from "../../kit/tenants.ts";

const MAX_FILE = 1_000_000;
const tenants = useTenants({
  FAIRWAY_MAX_FILE_BYTES: String(MAX_FILE),
  FAIRWAY_MAX_UPLOADS: "2",
  FAIRWAY_SPOOL_MEGABYTES: "1",
  FAIRWAY_HEADER_TIMEOUT_MS: "1000",
});
const BOUNDARY = "b0undary";

function part(name: string, value: string, more = ""): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}`;
}

const PURPOSE = part("purpose", "user_data\r\n");
const FILE_HEAD = part("file", "", '; filename="a.bin"');
const END = `\r\n--${BOUNDARY}--\r\n`;

/** Begins an upload; the test sends its body. */
function open(length: number | undefined): ClientRequest {
  const headers = {
    authorization: `Bearer ${tenants.mine}`,
    "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    ...(length === undefined ? { "transfer-encoding": "chunked" } : { "content-length": String(length) }),
  };
  const request = httpRequest(`${tenants.gateway.url}/v1/files`, { method: "POST", headers });
  request.on("error", () => undefined);
  return request;
}

interface Answer {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly retryAfter: string | undefined;
}

async function answerOf(request: ClientRequest): Promise<Answer> {
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { error?: { code?: string } };
  return { status: response.statusCode, code: body.error?.code, retryAfter: response.headers["retry-after"] };
}

async function settled(): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (performance.now() < deadline) {
    const rows = await tenants.gateway.database.raw.rows("select id from upstream_objects where state = 'sending'", []);
    if (rows.length === 0) return;
    await sleep(25);
  }
  throw new Error("an upload left its row behind");
}

// @weakness Exhaustion: Uploads that are too large, too many or never end fill the memory or the disk of a process
describe("an upload that takes too much", () => {
  it.each([
    ["by its announced length", 20_000_000, ""],
    ["while it is passed on", PURPOSE.length + FILE_HEAD.length + 1_500_000 + END.length, PURPOSE],
    ["while it is spooled", undefined, ""],
  ])("is refused %s, and leaves nothing behind", async (_when, length, before) => {
    const { gateway } = tenants;
    await gateway.channel("stores");
    const request = open(length);
    const answer = answerOf(request);
    request.write(before + FILE_HEAD);
    for (let sent = 0; sent < 1_500_000 && !request.destroyed; sent += 50_000) {
      request.write(Buffer.alloc(50_000));
      await sleep(1);
    }
    expect(await answer).toMatchObject({ status: 413, code: "request_too_large" });
    request.destroy();
    await settled();
    expect(gateway.upstream.files.stored.size).toBe(0);
  });

  it("waits for no place, and for no room on the disk", async () => {
    const { gateway } = tenants;
    await gateway.channel("stores");
    const spooled = open(undefined);
    spooled.write(FILE_HEAD);
    spooled.write(Buffer.alloc(700_000));
    await sleep(200);
    const second = open(undefined);
    const full = answerOf(second);
    second.write(FILE_HEAD);
    second.write(Buffer.alloc(700_000));
    expect(await full).toEqual({ status: 503, code: "spool_full", retryAfter: "5" });
    second.destroy();
    const held = open(undefined);
    held.write(FILE_HEAD);
    await sleep(100);
    const third = open(undefined);
    const refused = answerOf(third);
    third.write(FILE_HEAD);
    expect(await refused).toMatchObject({ status: 429, code: "concurrency_limit_exceeded", retryAfter: "1" });
    for (const one of [spooled, held, third]) one.destroy();
    await sleep(200);
    const after = open(undefined);
    const done = answerOf(after);
    after.end(PURPOSE + FILE_HEAD + "x" + END);
    expect((await done).status).toBe(200);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^fairway_upload_bytes_total\{dialect="openai",way="spool"\} 1$/m);
  });

  it("ends its upstream call when the client leaves", async () => {
    const { gateway } = tenants;
    await gateway.channel("stores");
    const request = open(900_000);
    request.write(PURPOSE + FILE_HEAD);
    request.write(Buffer.alloc(200_000));
    await sleep(300);
    const sending = await gateway.database.raw.rows("select id from upstream_objects where state = 'sending'", []);
    expect(sending).toHaveLength(1);
    request.destroy();
    await settled();
    const rows = await gateway.database.raw.rows<{ bytes: number }>("select sum(bytes) as bytes from object_usage", []);
    expect(Number(rows[0]?.bytes)).toBeLessThan(900_000);
  });
});

describe("the time for the upstream's answer", () => {
  it("begins when the whole file was sent", async () => {
    const { gateway } = tenants;
    await gateway.channel("stores");
    const slow = open(PURPOSE.length + FILE_HEAD.length + 2_000 + END.length);
    const done = answerOf(slow);
    slow.write(PURPOSE + FILE_HEAD);
    for (let sent = 0; sent < 2_000; sent += 500) {
      await sleep(500);
      slow.write(Buffer.alloc(500));
    }
    slow.end(END);
    expect((await done).status).toBe(200);
    gateway.upstream.script("/v1/files", () => new Promise(() => undefined));
    const hanging = open(PURPOSE.length + FILE_HEAD.length + 5 + END.length);
    const late = answerOf(hanging);
    hanging.end(`${PURPOSE}${FILE_HEAD}hello${END}`);
    expect(await late).toMatchObject({ status: 504, code: "upstream_timeout" });
    await settled();
  });
});
