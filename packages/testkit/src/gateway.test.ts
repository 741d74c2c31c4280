import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway } from "./gateway.ts";

// Programs that behave like a gateway towards its launcher.
const GOOD = `
const { FAIRWAY_PORT, FAIRWAY_LOG_LEVEL } = process.env;
process.on("SIGTERM", () => { console.log("not json"); process.exit(0); });
console.log(JSON.stringify({ level: "info", message: "listening", url: "http://127.0.0.1:1", adminUrl: "http://127.0.0.1:2", FAIRWAY_PORT, FAIRWAY_LOG_LEVEL }));
setInterval(() => {}, 1000);
`;
const BAD = `console.error("FAIRWAY_PORT is not a port"); process.exitCode = 3;`;

let folder: string;
const program = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-launcher-"));
  await writeFile(program("good.mjs"), GOOD);
  await writeFile(program("bad.mjs"), BAD);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a gateway receives its settings, found by its log and stopped in order", async () => {
  const gateway = await startGateway({ program: program("good.mjs"), env: { FAIRWAY_LOG_LEVEL: "debug" } });
  expect(gateway).toMatchObject({ url: "http://127.0.0.1:1", adminUrl: "http://127.0.0.1:2" });
  expect(gateway.logs[0]).toMatchObject({ FAIRWAY_PORT: "0", FAIRWAY_LOG_LEVEL: "debug" });
  expect(await gateway.stop()).toBe(0);
  expect(gateway.logs.at(-1)?.message).toBe("not json");
});

test("a kill is a kill", async () => {
  const gateway = await startGateway({ program: program("good.mjs") });
  await gateway.kill();
  expect(await gateway.exited).toBe("SIGKILL");
});

test("one that does not start says why", async () => {
  await expect(startGateway({ program: program("bad.mjs") })).rejects.toThrow(
    /ended with 3[\s\S]*FAIRWAY_PORT is not a port/,
  );
});
