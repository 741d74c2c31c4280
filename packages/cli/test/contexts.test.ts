// Several gateways from one terminal: a command goes only to the gateway that is named.
import { startGateway, type GatewayProcess } from "@fairway/testkit";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, signIn } from "./rig.ts";
import { run } from "./terminal.ts";

let gateways: GatewayProcess[];
let env: { XDG_CONFIG_HOME: string };
const [home, prod] = [() => gateways[0]?.url ?? "", () => gateways[1]?.url ?? ""];

beforeAll(async () => {
  gateways = await Promise.all([startGateway(), startGateway()]);
  env = { XDG_CONFIG_HOME: await mkdtemp(join(tmpdir(), "fairway-cli-")) };
});
afterAll(async () => {
  await Promise.all(gateways.map((one) => one.stop()));
  await rm(env.XDG_CONFIG_HOME, { recursive: true, force: true });
});

const fairway = (args: string, more: Record<string, string> = {}) => run(args.split(" "), { ...env, ...more });
const readServer = async (args: string) => parseJsonOutput(await fairway(`${args} whoami -o json`.trim()))["server"];
const file = (name: string) => join(env.XDG_CONFIG_HOME, "fairway", name);

test("a sign-in to a context keeps the others, and the one in use", async () => {
  expect((await fairway("context list")).err).toContain("No contexts");
  const token = await signIn(home(), { FAIRWAY_CONFIG: join(env.XDG_CONFIG_HOME, "made.json") });
  const first = await run(["login", home(), "--token-stdin"], env, token);
  expect(first.code, first.err).toBe(0);
  const other = await signIn(prod(), { FAIRWAY_CONFIG: join(env.XDG_CONFIG_HOME, "other.json") });
  const second = await run(["--context", "prod", "login", prod(), "--token-stdin"], env, other);
  expect(second.err).toContain("Commands still go to default; `fairway context use prod` changes that.");
  expect((await stat(file("contexts/prod.json"))).mode & 0o777).toBe(0o600);
  const listed = await fairway("context list -o json");
  expect(parseJsonOutput(listed)["items"]).toEqual([
    { name: "default", current: true, server: home(), user_id: 1 },
    { name: "prod", current: false, server: prod(), user_id: 1 },
  ]);
  expect(listed.out).not.toContain(token);
});

test("a command goes to the context in use, or to the one that is named", async () => {
  expect(await readServer("")).toBe(home());
  expect(await readServer("-c prod")).toBe(prod());
  expect((await fairway("context use prod")).code).toBe(0);
  expect(await readServer("")).toBe(prod());
  expect(await readServer("-c default")).toBe(home());
  expect((await fairway("context use default")).code).toBe(0);
  expect((await fairway("context show")).out).toBe("default\n");
  expect((await fairway("whoami -o json", { FAIRWAY_CONTEXT: "prod" })).out).toContain(prod());
  const words = async (...typed: string[]) => (await run(["__complete", "--", ...typed], env)).out;
  expect(await words("context", "use", "p")).toMatch(/^prod\t.*\n$/);
  expect(await words("-c", "d")).toMatch(/^default\t.*\n$/);
  expect((await fairway("context use nowhere")).code).toBe(3);
  expect((await fairway("-c nowhere whoami")).code).toBe(4);
  expect((await fairway("-c ../prod whoami")).code).toBe(2);
});

test("settings that contradict each other are refused, not guessed at", async () => {
  expect((await fairway("-c prod whoami", { FAIRWAY_TOKEN: "other" })).code).toBe(2);
  expect((await fairway("-c prod whoami", { FAIRWAY_SERVER: home() })).err).toContain("unset FAIRWAY_SERVER");
  expect((await fairway("-c prod whoami", { FAIRWAY_CONFIG: file("credentials.json") })).code).toBe(2);
});

test("a sign-out forgets one context and leaves the others", async () => {
  await fairway("context use prod");
  expect((await fairway("logout")).code).toBe(0);
  expect(existsSync(file("contexts/prod.json"))).toBe(false);
  expect(await readServer("")).toBe(home());
  expect((await fairway("-c prod whoami")).code).toBe(4);
});

test("a first sign-in to a context makes it the one in use", async () => {
  const own = { XDG_CONFIG_HOME: join(env.XDG_CONFIG_HOME, "first") };
  const token = await signIn(home(), { FAIRWAY_CONFIG: join(env.XDG_CONFIG_HOME, "first.json") });
  const first = await run(["-c", "home", "login", home(), "--token-stdin"], own, token);
  expect(first.err).toContain("Commands go to home.");
  expect((await run(["context", "show"], own)).out).toBe("home\n");
});
