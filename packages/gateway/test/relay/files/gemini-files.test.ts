import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTenants } from "../../kit/tenants.ts";

const tenants = useTenants();
const GEMINI = { type: 24 };
const PIECE_BYTES = 1_048_576;

interface GoogleFile {
  readonly name: string;
  readonly uri: string;
  readonly state: string;
  readonly sizeBytes: string;
  readonly mimeType: string;
}

async function begin(key: string, size: number, version = "v1beta", model = "gemini-files"): Promise<Response> {
  return fetch(`${tenants.gateway.url}/upload/${version}/files`, {
    method: "POST",
    headers: {
      "x-goog-api-key": key,
      "x-fairway-model": model,
      "content-type": "application/json",
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": String(size),
      "x-goog-upload-header-content-type": "text/plain",
    },
    body: JSON.stringify({ file: { displayName: "note", name: "files/mine" } }),
  });
}

function send(url: string, bytes: Buffer, offset: number, command: string) {
  return sendAs(undefined, url, bytes, { offset, command });
}

interface Piece {
  readonly offset: number;
  readonly command: string;
}

function sendAs(key: string | undefined, url: string, bytes: Buffer, { offset, command }: Piece) {
  return fetch(url, {
    method: "POST",
    headers: {
      "x-goog-upload-command": command,
      "x-goog-upload-offset": String(offset),
      ...(key !== undefined && { "x-goog-api-key": key }),
    },
    body: new Uint8Array(bytes),
  });
}

async function store(key: string, bytes: Buffer, version?: string, model?: string): Promise<GoogleFile> {
  const url = (await begin(key, bytes.length, version, model)).headers.get("x-goog-upload-url") ?? "";
  const answer = await send(url, bytes, 0, "upload, finalize");
  expect(answer.headers.get("x-goog-upload-status")).toBe("final");
  return ((await answer.json()) as { file: GoogleFile }).file;
}

function call(key: string, path: string, method = "GET"): Promise<Response> {
  return fetch(tenants.gateway.url + path, { method, headers: { "x-goog-api-key": key } });
}

describe("uploads of Google's protocol in one request", () => {
  const boundary = "a-boundary";
  const build = (bytes: Buffer, about = '{"file":{"displayName":"note","name":"files/mine"}}', type = "text/plain") =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Type: application/json\r\n\r\n${about}\r\n`),
      Buffer.from(`--${boundary}\r\nContent-Type: ${type}\r\n\r\n`),
      bytes,
      Buffer.from(`\r\n--${boundary}--`),
    ]);
  const upload = (key: string, body: NonNullable<RequestInit["body"]>, more: RequestInit = {}) =>
    fetch(`${tenants.gateway.url}/upload/v1beta/files`, {
      method: "POST",
      headers: {
        "x-goog-api-key": key,
        "x-goog-upload-protocol": "multipart",
        "content-type": `multipart/related; boundary=${boundary}`,
      },
      body,
      ...more,
    });

  it("reach the upstream whole, with a name of the gateway, announced or not", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("gemini-files", GEMINI);
    const bytes = randomBytes(300_000);
    const streamed = { duplex: "half" } as RequestInit;
    for (const response of [
      await upload(mine, build(bytes)),
      await upload(mine, new Blob([build(bytes)]).stream(), streamed),
    ]) {
      expect(response.status).toBe(200);
      const { file } = (await response.json()) as { file: GoogleFile };
      expect(file.name).toMatch(/^files\/[a-z0-9]{34}$/);
      expect(file).toMatchObject({ sizeBytes: String(bytes.length), mimeType: "text/plain", displayName: "note" });
      expect((await call(mine, `/v1beta/${file.name}`, "DELETE")).status).toBe(200);
    }
    const sent = gateway.upstream.requests.filter(({ path }) => path.startsWith("/upload/"));
    expect(sent.map(({ body }) => body.includes(bytes) && !body.includes("files/mine"))).toEqual([true, true]);
  });

  it.each([
    ["no second part", Buffer.from(`--${boundary}\r\n\r\n{}\r\n--${boundary}--`)],
    ["no JSON", build(Buffer.from("x"), "file")],
    ["a head without an end", Buffer.alloc(200_000, "x")],
  ])("are refused with %s, and nothing is sent", async (_name, body) => {
    const { gateway, mine } = tenants;
    expect((await upload(mine, body)).status).toBe(400);
    expect(gateway.upstream.requests).toEqual([]);
  });
});

describe("resumable uploads of Google's clients", () => {
  it("arrive whole in pieces without a key, and their last call may be repeated", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("gemini-files", GEMINI);
    const bytes = randomBytes(2 * PIECE_BYTES + 5);
    const start = await begin(mine, bytes.length);
    const url = start.headers.get("x-goog-upload-url") ?? "";
    expect(start.headers.get("x-goog-upload-status")).toBe("active");
    expect(url).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/upload\/v1beta\/files\?upload_id=[a-z0-9]{34}&upload_protocol=resumable$/,
    );
    expect(gateway.upstream.requests[0]?.json).toEqual({ file: { displayName: "note" } });
    const pieces = [0, PIECE_BYTES, 2 * PIECE_BYTES];
    let last: Response | undefined;
    for (const at of pieces) {
      const command = at === 2 * PIECE_BYTES ? "upload, finalize" : "upload";
      last = await send(url, bytes.subarray(at, at + PIECE_BYTES), at, command);
      expect(last.status).toBe(200);
      if (command === "upload") expect(last.headers.get("x-goog-upload-status")).toBe("active");
    }
    if (!last) throw new Error("nothing was sent");
    const { file } = (await last.json()) as { file: GoogleFile };
    expect(file.name).toMatch(/^files\/[a-z0-9]{34}$/);
    expect(file).toMatchObject({ state: "ACTIVE", sizeBytes: String(bytes.length), mimeType: "text/plain" });
    expect(file.uri).toBe(`${gateway.url}/v1beta/${file.name}`);
    expect([...gateway.upstream.files.stored.values()][0]?.bytes.equals(bytes)).toBe(true);
    const again = (await (await send(url, Buffer.alloc(0), bytes.length, "finalize")).json()) as { file: GoogleFile };
    expect(again.file.name).toBe(file.name);
    expect((await call(mine, `/v1beta/${file.name}`, "DELETE")).status).toBe(200);
  });

  it("answer how much has arrived, and refuse a wrong offset, too many bytes and another user's key", async () => {
    const { gateway, mine, theirs } = tenants;
    await gateway.channel("gemini-files", GEMINI);
    const url = (await begin(mine, 10)).headers.get("x-goog-upload-url") ?? "";
    await send(url, Buffer.from("hello"), 0, "upload");
    const query = await fetch(url, { method: "POST", headers: { "x-goog-upload-command": "query" } });
    expect(query.headers.get("x-goog-upload-size-received")).toBe("5");
    expect((await send(url, Buffer.from("x"), 3, "upload")).status).toBe(400);
    expect((await send(url, Buffer.from("too many"), 5, "upload")).status).toBe(413);
    const other = await sendAs(theirs, url, Buffer.from("world"), { offset: 5, command: "upload" });
    const unknown = await send(url.replace(/upload_id=\w/, "upload_id=_"), Buffer.from("world"), 5, "upload");
    expect([other.status, unknown.status]).toEqual([404, 404]);
    expect((await sendAs(mine, url, Buffer.from("world"), { offset: 5, command: "upload, finalize" })).status).toBe(
      200,
    );
    expect([...gateway.upstream.files.stored.values()].at(-1)?.bytes.toString()).toBe("helloworld");
  });

  it("hide the upstream's address and session", async () => {
    const { gateway, mine } = tenants;
    await gateway.channel("gemini-files", GEMINI);
    await begin(mine, 10);
    const rows = await gateway.database.raw.rows<{ facts: string }>(
      "select facts from upstream_objects where kind = 'upload'",
      [],
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toMatch(/UPS\d/);
  });

  it("are refused in one request", async () => {
    const answer = await fetch(`${tenants.gateway.url}/upload/v1beta/files`, {
      method: "POST",
      headers: { "x-goog-api-key": tenants.mine, "x-goog-upload-protocol": "multipart" },
      body: "x",
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { status: "INVALID_ARGUMENT" } });
  });
});

describe("files of Google's protocol", () => {
  it.each(["v1beta", "v1"])("are listed in pages, shown, downloaded and deleted below /%s", async (version) => {
    const { gateway, mine, theirs } = tenants;
    await gateway.channel("gemini-files", GEMINI);
    const files = [];
    for (const text of ["one", "two", "three"]) files.push(await store(mine, Buffer.from(text), version));
    const seen: string[] = [];
    let token = "";
    do {
      const page = (await (await call(mine, `/${version}/files?pageSize=2&pageToken=${token}`)).json()) as {
        files: GoogleFile[];
        nextPageToken?: string;
      };
      seen.push(...page.files.map(({ name }) => name));
      token = page.nextPageToken ?? "";
    } while (token !== "");
    for (const { name } of files) expect(seen).toContain(name);
    const [first] = files;
    const path = `/${version}/${first?.name}`;
    expect(await (await call(mine, path)).json()).toMatchObject({ name: first?.name, displayName: "note" });
    const content = await call(mine, `${path}:download?alt=media`);
    expect([content.status, await content.text()]).toEqual([200, "one"]);
    const missing = await call(theirs, path);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
    for (const name of seen) expect(await (await call(mine, `/${version}/${name}`, "DELETE")).json()).toEqual({});
    expect((await call(mine, path)).status).toBe(404);
  });

  it("are named in requests by any of their addresses, and reach only the account that has them", async () => {
    const { gateway, mine, theirs } = tenants;
    await gateway.channel("gemini-use", { ...GEMINI, key: "g-store" });
    const file = await store(mine, Buffer.from("hello"), "v1beta", "gemini-use");
    const stored = [...gateway.upstream.files.stored.values()].at(-1);
    const addresses = [file.uri, file.name, `https://generativelanguage.googleapis.com/v1beta/${file.name}`];
    const ask = (key: string, fileUri: string) =>
      gateway.post(
        "/v1beta/models/gemini-use:generateContent",
        {
          contents: [{ role: "user", parts: [{ fileData: { fileUri, mimeType: "text/plain" } }, { text: "Sum up" }] }],
        },
        key,
      );
    for (const address of addresses) {
      const before = gateway.upstream.requests.length;
      const answer = await ask(mine, address);
      expect(answer.status).toBe(200);
      const sent = gateway.upstream.requests.slice(before).map(({ body }) => body.toString());
      expect(sent[0]).toContain(`"https://generativelanguage.googleapis.com/v1beta/files/${stored?.id}"`);
      expect(sent.join("")).not.toContain(file.name);
    }
    const before = gateway.upstream.requests.length;
    expect((await ask(theirs, file.uri)).status).toBe(404);
    expect(gateway.upstream.requests).toHaveLength(before);
  });
});
