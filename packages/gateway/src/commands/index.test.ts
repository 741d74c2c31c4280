import { createDatabase } from "@fairway/testkit/databases";
import { resolveGatewayProgram } from "@fairway/testkit/gateway";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../version.ts";
import { SourceDatabase, NEW_API } from "../../test/import/source-database.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-commands-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the program with arguments, like an operator. */
function run(database: string, ...args: string[]): Promise<Ended> {
  return runWith({ FAIRWAY_DATABASE_URL: database }, args);
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
}

function runWith(
  variables: Readonly<Record<string, string>>,
  args: readonly string[],
  onText?: (text: string, child: ChildProcess) => void,
): Promise<Ended> {
  const env = {
    PATH: process.env["PATH"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    FAIRWAY_ENCRYPTION_KEY: "test-encryption-key-0123456789abcdef",
    FAIRWAY_DATA_DIR: folder,
    ...variables,
  };
  const child = spawn(process.execPath, [resolveGatewayProgram(), ...args], { env });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      onText?.(out, child);
    });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
}

test("an operator imports, exports, and reads the export back", async () => {
  const sourceDatabase = new SourceDatabase(await createDatabase("sqlite"), "sqlite");
  await sourceDatabase.create(NEW_API);
  await sourceDatabase.insert("users", {
    id: 1,
    username: "root",
    password: "x",
    role: 100,
    status: 1,
    quota: 7,
    aff_code: "a",
  });
  const path = sourceDatabase.url.slice("sqlite:".length);
  const first = `sqlite:${join(folder, "first.db")}`;
  const dry = await run(first, "import", "--from", "new-api", "--database", path, "--dry-run");
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining("users: 1 created") as unknown });
  expect(dry.out).toContain("Nothing was written");
  expect((await run(first, "import", "--from", "new-api", "--database", path)).out).toContain("users: 1 created");
  expect((await run(first, "import", "--from", "new-api", "--database", path, "--logs")).out).toContain(
    "users: 1 unchanged",
  );
  const dir = join(folder, "export");
  expect((await run(first, "export", "--dir", dir)).out).toContain("users: 1 rows");
  expect(await readdir(dir)).toContain("manifest.json");
  const second = `sqlite:${join(folder, "second.db")}`;
  expect((await run(second, "import", "--from", "fairway", "--dir", dir)).out).toContain("users: 1 created");
  expect((await run(second, "import", "--from", "fairway", "--dir", dir)).out).toContain(
    "the table users is not empty",
  );
}, 180_000);

test("what cannot be understood is explained", async () => {
  const database = `sqlite:${join(folder, "third.db")}`;
  expect(await run(database, "imprt")).toMatchObject({
    code: 1,
    out: expect.stringContaining("there is no command imprt") as unknown,
  });
  expect((await run(database, "import", "--from", "elsewhere")).out).toContain("--from one-api|new-api --database URL");
  expect((await run(database, "import", "--form", "x")).out).toContain("Unknown option '--form'");
  expect((await run(database, "export")).out).toContain("fairway-gateway export --dir FOLDER");
  const file = join(folder, "litellm.yaml");
  await writeFile(file, "model_list: [{model_name: m, litellm_params: {model: openai/m, api_key: k}}]");
  expect((await run(database, "import", "--from", "litellm", "--config", file)).out).toContain("channels: 1 created");
}, 180_000);

test("the commands are listed, and an unknown one names them", async () => {
  const database = await createDatabase("sqlite");
  const help = await run(database, "--help");
  expect(help.code).toBe(0);
  expect(help.out).toContain("fairway-gateway ledger audit");
  const unknown = await run(database, "nonsense");
  expect(unknown.code).toBe(1);
  expect(unknown.out).toContain("there is no command nonsense: it is export, import, ledger, logs, migrate, reseal");
});

test("help and version need no settings, and every command has its own", async () => {
  const broken = { FAIRWAY_PORT: "none" };
  expect(await runWith(broken, ["--help"])).toMatchObject({
    code: 0,
    out: expect.stringContaining("migrate") as unknown,
  });
  expect(await runWith(broken, ["--version"])).toEqual({ code: 0, out: `${VERSION}\n` });
  expect(await runWith(broken, ["import", "--help"])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^fairway-gateway import --from one-api/) as unknown,
  });
}, 60_000);

test("a start that waits ends at a signal by itself, as the first process of a container has to", async () => {
  const waiting = { FAIRWAY_DATABASE_URL: await createDatabase("sqlite"), FAIRWAY_MIGRATE: "wait" };
  let isSent = false;
  const ended = await runWith(waiting, [], (out, child) => {
    if (isSent || !out.includes("waiting for the database schema")) return;
    isSent = child.kill("SIGTERM");
  });
  expect(ended.code).toBe(143);
}, 60_000);

test("an address or a port that cannot be listened on is named by its variable, with the cure", async () => {
  const serve = async (variables: Record<string, string>) => {
    const all = { FAIRWAY_DATABASE_URL: await createDatabase("sqlite"), FAIRWAY_ROOT_PASSWORD: "long-enough-1" };
    return (await runWith({ ...all, FAIRWAY_PORT: "0", FAIRWAY_ADMIN_PORT: "0", ...variables }, [])).out;
  };
  expect(await serve({ FAIRWAY_HOST: "192.0.2.1" })).toMatch(
    /^fairway: FAIRWAY_HOST is "192\.0\.2\.1", which cannot be listened on \(EADDRNOTAVAIL\): give an address of this machine/m,
  );
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const port = String((taken.address() as AddressInfo).port);
  expect(await serve({ FAIRWAY_HOST: "127.0.0.1", FAIRWAY_ADMIN_PORT: port })).toMatch(
    /^fairway: the port of FAIRWAY_ADMIN_PORT is in use: stop what uses it, or choose another$/m,
  );
  taken.close();
}, 60_000);
