import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { request } from "node:http";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import { contentPolicy } from "./security.ts";

let app: ManagementApp;
let folder: string;
const script = "console.log(1);".repeat(100);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-console-"));
  const dir = join(folder, "dist");
  await mkdir(join(dir, "assets"), { recursive: true });
  await writeFile(join(folder, "secret.txt"), "outside");
  await writeFile(join(dir, "index.html"), "<!doctype html><title>console</title>");
  await writeFile(join(dir, "theme-init.js"), "1");
  await writeFile(join(dir, "assets", "main-abc123.js"), script);
  await writeFile(join(dir, "assets", "main-abc123.js.br"), brotliCompressSync(script));
  await writeFile(join(dir, "assets", "main-abc123.js.gz"), gzipSync(script));
  app = await startManagementApp({
    url: await createDatabase("sqlite"),
    consoleDir: dir,
    rules: { web: { name: "web", limit: 40, windowMs: 1000 } },
  });
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}) => app.anonymous().get(path, headers);

/** Requests the raw path, without the normalization of a URL parser. */
function rawGet(path: string): Promise<number> {
  const { hostname, port } = new URL(app.baseUrl);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, agent: false }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
    outgoing.on("error", reject).end();
  });
}

describe("console files", () => {
  test("pages are never cached and carry the policy", async () => {
    for (const path of ["/", "/login", "/setting?tab=system", "/user/reset", "/a.b/c"]) {
      const reply = await get(path);
      expect(reply).toMatchObject({ status: 200, text: "<!doctype html><title>console</title>" });
      expect(reply.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "content-security-policy": "default-src 'self'",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
      });
    }
  });

  test("hashed assets are cached for a year, other files are revalidated", async () => {
    expect((await get("/assets/main-abc123.js")).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const theme = await get("/theme-init.js");
    expect(theme.headers).toMatchObject({
      "cache-control": "no-cache",
      "content-type": "text/javascript; charset=utf-8",
    });
    const again = await get("/theme-init.js", { "if-none-match": String(theme.headers["etag"]) });
    expect(again).toMatchObject({ status: 304, text: "" });
  });

  test("are sent in the best coding that the browser takes", async () => {
    expect((await get("/assets/main-abc123.js", { "accept-encoding": "gzip, br" })).headers["content-encoding"]).toBe(
      "br",
    );
    const packed = await get("/assets/main-abc123.js", { "accept-encoding": "gzip" });
    expect(packed).toMatchObject({ text: script, headers: { "content-encoding": "gzip", vary: "Accept-Encoding" } });
    expect(await get("/assets/main-abc123.js")).toMatchObject({ text: script });
    expect(brotliDecompressSync(brotliCompressSync(script)).toString()).toBe(script);
  });

  test("answer HEAD without a body", async () => {
    const head = await app.anonymous().call("HEAD", "/assets/main-abc123.js", {});
    expect(head).toMatchObject({ status: 200, text: "", headers: { "content-length": String(script.length) } });
  });

  test("missing files and other methods are 404", async () => {
    expect((await get("/assets/gone.js")).status).toBe(404);
    expect(await app.anonymous().post("/login", {})).toMatchObject({
      status: 404,
      body: { success: false, message: "Invalid URL (POST /login)" },
    });
  });

  test("paths of the model API without the version are JSON, and name the base URL", async () => {
    for (const path of ["/models", "/chat/completions", "/health", "/props"]) {
      const reply = await get(path, { accept: "*/*" });
      expect(reply).toMatchObject({ status: 404, body: { error: { type: "invalid_request_error" } } });
      expect(reply.body["message"]).toContain(`the base URL of OpenAI's protocol ends in /v1`);
    }
    const posted = await app.anonymous().post("/chat/completions", {});
    expect(posted).toMatchObject({ status: 404 });
    expect(posted.body["message"]).toContain("/v1/chat/completions");
    expect((await get("/models", { accept: "text/html" })).status).toBe(200);
  });

  test("bookmarks of compatible consoles lead to the pages of today, and to no other host", async () => {
    const target = async (path: string) => (await get(path)).headers["location"];
    expect(await target("/console/topup")).toBe("/topup");
    expect(await target("/console/log?p=2")).toBe("/log?p=2");
    expect(await target("/panel/token/")).toBe("/token");
    expect(await target("/console/personal")).toBe("/setting");
    expect(await target("/console")).toBe("/");
    expect(await target("/console//evil.example/x")).toBeUndefined();
    expect(await target("/console//evil/x")).toBe("/evil/x");
  });

  test.each([
    "/../secret.txt",
    "/assets/../../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/assets/..%5c..%5csecret.txt",
    "//etc/passwd.txt",
    "/%",
  ])("nothing outside the folder is reached by %s", async (path) => expect([200, 404]).toContain(await rawGet(path)));

  test("no path serves the file next to the folder", async () => {
    for (const path of ["/%2e%2e/secret.txt", "/..%2fsecret.txt", "/secret.txt"])
      expect((await get(path)).text).not.toBe("outside");
  });

  test("have a rate of their own", async () => {
    const limited = await startManagementApp({
      url: await createDatabase("sqlite"),
      consoleDir: join(folder, "dist"),
      rules: { web: { name: "web", limit: 1, windowMs: 1000 } },
    });
    expect((await limited.anonymous().get("/")).status).toBe(200);
    const refused = await limited.anonymous().get("/");
    expect(refused).toMatchObject({ status: 429, body: { code: "G3" } });
    expect(refused.headers["retry-after"]).toBe("1");
    expect((await limited.anonymous().get("/api/status")).status).toBe(200);
    await limited.close();
  });
});

describe("while a first build of the console runs", () => {
  test("pages show the progress, and open the console once it is there", async () => {
    const dir = join(folder, "first", "dist");
    const progress = join(folder, "progress.txt");
    const fresh = await startManagementApp({
      url: await createDatabase("sqlite"),
      consoleDir: dir,
      consoleProgress: progress,
    });
    const read = (path: string) => fresh.anonymous().get(path, { accept: "text/html" });
    const first = await read("/");
    expect(first.status).toBe(503);
    expect(first.text).toContain("The build starts.");
    await writeFile(progress, "Step 2 of 2: <building> the pages.\n");
    const page = await read("/login");
    expect(page.text).toContain("<p>Step 2 of 2: &lt;building&gt; the pages.</p>");
    expect(page.headers).toMatchObject({ "retry-after": "2", "cache-control": "no-store" });
    expect((await fresh.anonymous().get("/api/status")).status).toBe(200);
    expect((await fresh.anonymous().get("/assets/main.js")).status).toBe(404);
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, "index.html"), "<!doctype html><title>console</title>");
    expect(await read("/")).toMatchObject({ status: 200, text: "<!doctype html><title>console</title>" });
    await fresh.close();
  });
});

describe("the content policy", () => {
  // @weakness Injection and parsing: The console runs scripts of its texts
  test("allows nothing inline, and other hosts only when an option needs them", () => {
    const strict = contentPolicy({ hasTurnstile: false, hasTelegram: false });
    expect(strict).toContain("script-src 'self';");
    expect(strict).not.toContain("unsafe");
    const wide = contentPolicy({ hasTurnstile: true, hasTelegram: true });
    expect(wide).toContain("script-src 'self' https://challenges.cloudflare.com https://telegram.org;");
  });
});
