// What the Dockerfile puts into the image, assembled without a container runtime: the files that the Dockerfile copies, started by its
// entry point with its variables.
import { createChannel, createToken, signIn, startGateway, startUpstream, type GatewayProcess } from "@fairway/testkit";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { APP_FILES, NODE_PROGRAM, SETTINGS } from "../scripts/image/contents.ts";

const ROOT = join(import.meta.dirname, "..");
const lastStage =
  readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8")
    .split(/^FROM /m)
    .at(-1) ?? "";
const lines = (word: string) =>
  lastStage
    .split("\n")
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.slice(word.length + 1));

let image = "";
beforeAll(() => {
  image = mkdtempSync(join(tmpdir(), "fairway-image-"));
  for (const line of lines("COPY")) {
    const [, source = "", target = ""] = /^--from=build (?:--chmod=755 )?\/src\/(\S+) (\S+)$/.exec(line) ?? [];
    expect(source, line).not.toBe("");
    mkdirSync(dirname(join(image, target)), { recursive: true });
    if (source === NODE_PROGRAM) symlinkSync(join(ROOT, source), join(image, target));
    else cpSync(join(ROOT, source), join(image, target), { recursive: true });
  }
});
afterAll(() => rmSync(image, { recursive: true, force: true }));

const entry = (JSON.parse(lines("ENTRYPOINT")[0] ?? "[]") as string[]).map((path) => path.replace(/^\/app\//, ""));
const [node = "", program = ""] = [entry[0], entry.at(-1)];
const flags = entry.slice(1, -1);
const variables = Object.fromEntries(
  lines("ENV").flatMap((line) => line.split(" ").map((pair) => pair.split("=") as [string, string])),
);

describe("the image", () => {
  it("has the files and settings of the image that needs no Docker", () => {
    const copied = lines("COPY").map((line) => /\/src\/(\S+) (\S+)$/.exec(line)?.slice(1) ?? []);
    const inRoot = (target: string) => (target.startsWith("/") ? target.slice(1) : `app/${target}`);
    expect(copied.map(([source, target = ""]) => ({ source, target: inRoot(target) }))).toEqual(APP_FILES);
    expect(variables).toEqual(SETTINGS.env);
    expect(JSON.parse(lines("ENTRYPOINT")[0] ?? "[]")).toEqual(SETTINGS.entrypoint);
    expect(lines("USER")).toEqual([SETTINGS.user]);
    expect(lines("WORKDIR")).toEqual([SETTINGS.workdir]);
    expect(lines("EXPOSE")).toEqual([SETTINGS.ports.join(" ")]);
  });

  let gateway: GatewayProcess | undefined;
  afterAll(() => gateway?.stop());

  it("serves the console and relays with nothing but its own files", async () => {
    const upstream = await startUpstream();
    const { FAIRWAY_HOST, FAIRWAY_DATA_DIR, ...env } = variables;
    expect([FAIRWAY_HOST, FAIRWAY_DATA_DIR]).toEqual(["0.0.0.0", "/data"]);
    gateway = await startGateway({ program: join(image, program), nodeArgs: flags, env });
    const page = await fetch(gateway.url, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain('<div id="root">');
    const root = await signIn(gateway.url);
    await createChannel(root, { base_url: upstream.url, models: "gpt-4o-mini" });
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${await createToken(root)}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(answer.status, await answer.text()).toBe(200);
    await upstream.stop();
  });

  it("runs the commands of an operator by its entry point", () => {
    const { status, stderr } = spawnSync(join(image, node), [join(image, program), "nonsense"], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain("import");
  });

  it("has those commands under the name that pages and messages use", () => {
    const script = readFileSync(join(image, "usr/local/bin/fairway-gateway"), "utf8").replaceAll("/app/", `${image}/`);
    const help = spawnSync("/bin/sh", ["-c", script, "fairway-gateway", "help"], { encoding: "utf8" });
    expect(help.stdout, help.stderr).toContain("fairway-gateway ledger audit");
    expect(script).toContain(flags.join(" "));
  });

  it("runs as a number that is not root and stores its data in a volume", () => {
    expect(lines("USER")).toEqual(["65532:65532"]);
    expect(lines("VOLUME")).toEqual([SETTINGS.volume]);
  });

  it("owns the folder that a new volume is made from", () => {
    const made = lastStage.indexOf("RUN install -d -o 65532 -g 65532 -m 750 /data");
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(lastStage.indexOf("VOLUME /data"));
  });
});

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment?: Readonly<Record<string, string>>; readonly volumes?: readonly string[] }>
  >;
  readonly volumes: Readonly<Record<string, null>>;
}

describe("the compose file", () => {
  const compose = parse(readFileSync(join(ROOT, "deploy/compose.yaml"), "utf8")) as Compose;

  it("sets variables that the gateway knows", () => {
    const reference = readFileSync(join(ROOT, "docs/reference/environment.md"), "utf8");
    const names = Object.keys(compose.services["gateway"]?.environment ?? {});
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(reference, name).toContain(`\`${name}\``);
  });

  it("declares the volumes that it mounts", () => {
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes.map((v) => v.split(":")[0]));
    expect(new Set(mounted)).toEqual(new Set(Object.keys(compose.volumes)));
  });
});
