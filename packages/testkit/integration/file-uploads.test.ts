// Large files of official clients over two replicas: nothing is lost on the way, and no replica holds a file in memory.
import { createHash, randomBytes } from "node:crypto";
import { createServer, request as send, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readMemory } from "../load/usage.ts";
import { createDatabase } from "../src/databases.ts";
import { createChannel, createToken, setOptions, signIn, startGateway, startUpstream } from "../src/index.ts";
import type { GatewayProcess, Session, Upstream } from "../src/index.ts";

const MEBIBYTE = 1024 * 1024;
const LIMIT_MS = 180_000;
/** What a process may grow by while a file passes through it. */
const MAX_GROWN_KIB = 64 * 1024;

let upstream: Upstream;
let large: LargeUpstream;
let replicas: readonly GatewayProcess[];
let balancer: Balancer;
let root: Session;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  large = await startLargeUpstream();
  const database = await createDatabase("mariadb");
  const first = await startGateway({ database });
  replicas = [first, await startGateway({ database })];
  balancer = await startBalancer(replicas.map(({ url }) => url));
  root = await signIn(first.url);
  await setOptions(root, { ServerAddress: balancer.url });
  await createChannel(root, { type: 24, base_url: upstream.url, models: "gemini-3.5-flash" });
  await createChannel(root, { type: 1, base_url: upstream.url, models: "gpt-5.6" });
  await createChannel(root, { type: 1, base_url: large.url, models: "gpt-large" });
  key = await createToken(root);
  await sleep(6_000); // the other replica learns of the channels
}, LIMIT_MS);
afterAll(async () => {
  await Promise.all((replicas ?? []).map((replica) => replica.stop()));
  balancer?.server.close().closeAllConnections();
  large?.server.close().closeAllConnections();
  await upstream?.stop();
});

const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const hashLast = () => hash([...upstream.files.stored.values()].at(-1)?.bytes ?? Buffer.alloc(0));

test(
  "the Google client resumes an upload of 20 MiB at another replica with every piece",
  { timeout: LIMIT_MS },
  async () => {
    const { files } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: balancer.url } });
    const bytes = randomBytes(20 * MEBIBYTE);
    const served = balancer.served.map((count) => count);
    const file = await files.upload({ file: new Blob([bytes]), config: { mimeType: "application/octet-stream" } });
    expect(file).toMatchObject({ sizeBytes: String(bytes.length), state: "ACTIVE" });
    expect(hashLast()).toBe(hash(bytes));
    // The beginning and three pieces of 8 MiB at most.
    expect(balancer.served.map((count, at) => count - (served[at] ?? 0))).toEqual([2, 2]);
    await files.delete({ name: file.name ?? "" });
  },
);

test(
  "the OpenAI client sends parts at once to both replicas, in the order that it names",
  { timeout: LIMIT_MS },
  async () => {
    const defaultHeaders = { "x-fairway-model": "gpt-5.6" };
    const client = new OpenAI({ baseURL: `${balancer.url}/v1`, apiKey: key, maxRetries: 0, defaultHeaders });
    const pieces = Array.from({ length: 4 }, () => randomBytes(3 * MEBIBYTE));
    const whole = Buffer.concat(pieces);
    const served = balancer.served.map((count) => count);
    const upload = await client.uploads.create({
      bytes: whole.length,
      filename: "a.bin",
      mime_type: "application/octet-stream",
      purpose: "user_data",
    });
    const parts = await Promise.all(
      pieces.map((piece) => client.uploads.parts.create(upload.id, { data: new File([piece], "part") })),
    );
    const { file } = await client.uploads.complete(upload.id, { part_ids: parts.map(({ id }) => id) });
    expect(file).toMatchObject({ bytes: whole.length, filename: "a.bin" });
    expect(balancer.served.map((count, at) => count - (served[at] ?? 0))).toEqual([3, 3]);
    const content = await client.files.content(file?.id ?? "");
    expect(hash(new Uint8Array(await content.arrayBuffer()))).toBe(hash(whole));
  },
);

describe("a file of 200 MB", () => {
  test.each([
    ["before", true],
    ["after", false],
  ])(
    "arrives whole when its purpose comes %s it, and is never in memory",
    async (_place, isFirst) => {
      const replica = replicas[0] as GatewayProcess;
      const before = readMemory(replica.pid).residentKib;
      let most = before;
      const timer = setInterval(() => (most = Math.max(most, readMemory(replica.pid).residentKib)), 50);
      const sent = createHash("sha256");
      const response = await fetch(`${replica.url}/v1/files`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "multipart/form-data; boundary=of-the-client",
          "x-fairway-model": "gpt-large",
        },
        body: Readable.toWeb(Readable.from(writeForm(isFirst, sent))),
        duplex: "half",
      } as RequestInit).finally(() => clearInterval(timer));
      expect([response.status, await response.json()]).toMatchObject([200, { bytes: SIZE, purpose: "user_data" }]);
      expect(large.last()).toEqual({ bytes: SIZE, hash: sent.digest("hex") });
      expect(most - before).toBeLessThan(MAX_GROWN_KIB);
    },
    LIMIT_MS,
  );
});

const PIECE_BYTES = 64 * 1024;
const PIECES = 3_052;
const SIZE = PIECE_BYTES * PIECES;

function* writeForm(isFirst: boolean, sent: ReturnType<typeof createHash>): Generator<Buffer> {
  const boundary = "--of-the-client\r\n";
  const purpose = `${boundary}content-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n`;
  const file = `${boundary}content-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
  yield Buffer.from(isFirst ? purpose + file : file);
  const piece = randomBytes(PIECE_BYTES);
  for (let at = 0; at < PIECES; at++) {
    // Every piece differs, so that none can stand for another.
    const own = Buffer.from(piece);
    own.writeUInt32BE(at);
    sent.update(own);
    yield own;
  }
  yield Buffer.from(`\r\n${isFirst ? "" : purpose}--of-the-client--\r\n`);
}

interface LargeUpstream {
  readonly server: Server;
  readonly url: string;
  /** The size and the hash of the file that was stored last. */
  last(): { readonly bytes: number; readonly hash: string };
}

/** An upstream that keeps nothing of a file but its hash. */
async function startLargeUpstream(): Promise<LargeUpstream> {
  let last = { bytes: 0, hash: "" };
  const server = createServer((request, response) => {
    void readFormFile(request).then((found) => {
      last = found;
      const { bytes } = found;
      const file = {
        id: `file-large-${bytes}`,
        object: "file",
        bytes,
        created_at: 1,
        filename: "a.bin",
        purpose: "user_data",
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(file));
    });
  });
  return { server, url: await listen(server), last: () => last };
}

async function readFormFile(request: IncomingMessage): Promise<{ readonly bytes: number; readonly hash: string }> {
  const [, boundary = ""] = /boundary="?([^";]+)/.exec(request.headers["content-type"] ?? "") ?? [];
  const end = Buffer.from(`\r\n--${boundary}`);
  const found = createHash("sha256");
  let bytes = 0;
  let state: "head" | "file" | "over" = "head";
  let rest: Buffer = Buffer.alloc(0);
  const take = (part: Buffer) => {
    found.update(part);
    bytes += part.length;
  };
  for await (const chunk of request) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    if (state === "head") {
      const start = findFileStart(rest);
      if (start === undefined) continue;
      rest = rest.subarray(start);
      state = "file";
    }
    if (state === "over") rest = Buffer.alloc(0);
    if (state !== "file") continue;
    const last = rest.indexOf(end);
    const taken = last < 0 ? Math.max(0, rest.length - end.length) : last;
    take(rest.subarray(0, taken));
    rest = rest.subarray(taken);
    if (last >= 0) state = "over";
  }
  return { bytes, hash: found.digest("hex") };
}

/** Returns the position of the first byte of the file; undefined if its head has not arrived whole. */
function findFileStart(form: Buffer): number | undefined {
  const name = form.indexOf('name="file"');
  const blank = name < 0 ? -1 : form.indexOf("\r\n\r\n", name);
  return blank < 0 ? undefined : blank + 4;
}

interface Balancer {
  readonly server: Server;
  readonly url: string;
  /** How many calls each replica got. */
  readonly served: number[];
}

/** Passes each call to the next replica. */
async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const served = urls.map(() => 0);
  let turn = 0;
  const server = createServer((request, response) => {
    const at = turn++ % urls.length;
    served[at] = (served[at] ?? 0) + 1;
    const { method, headers, url = "" } = request;
    const call = send(new URL(url, urls[at]), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    call.once("error", () => response.destroy());
    request.pipe(call);
  });
  return { server, url: await listen(server), served };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
