// Signing out, `whoami`, and completion in a real shell.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT_PASSWORD } from "@fairway/testkit";
import { parseJsonOutput, parseRows, signIn, startRig, type Rig } from "./rig.ts";
import { environment, openTerminal, PROGRAM, run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("whoami tells user and balance", async () => {
  expect(parseJsonOutput(await rig.fairway("whoami -o json"))).toMatchObject({
    server: rig.gateway.url,
    username: "root",
    role: 100,
  });
  const { out } = await rig.fairway("whoami");
  expect(out).toMatch(/^role +super administrator \(100\)$/m);
});

test("logout forgets the sign-in, once and for all", async () => {
  const env = { FAIRWAY_CONFIG: join(rig.home, "short.json") };
  await signIn(rig.gateway.url, env);
  const out = await run(["logout"], env);
  expect(out.code, out.err).toBe(0);
  await expect(readFile(env.FAIRWAY_CONFIG)).rejects.toThrow("ENOENT");
  expect((await run(["whoami"], env)).code).toBe(4);
  const again = await run(["logout"], { ...env, FAIRWAY_TOKEN: "other" });
  expect(again).toMatchObject({ code: 0, out: "" });
  expect(again.err).toBe("You were not signed in.\nFAIRWAY_TOKEN still signs commands in.\n");
});

test("logout --revoke ends the token as well, and only one that login made", async () => {
  const pasted = { FAIRWAY_CONFIG: join(rig.home, "pasted.json") };
  const made = { FAIRWAY_CONFIG: join(rig.home, "made.json") };
  const token = await signIn(rig.gateway.url, made);
  await run(["login", rig.gateway.url, "--token-stdin"], pasted, token);
  const refused = await run(["logout", "--revoke"], pasted);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("leave out --revoke");
  expect((await run(["whoami"], pasted)).code).toBe(0);
  expect((await run(["logout", "--revoke"], made)).code).toBe(0);
  expect((await run(["whoami"], pasted)).code).toBe(4);
  // The earlier sign-in has the same name, so its token was replaced.
  await signIn(rig.gateway.url, rig.env as { FAIRWAY_CONFIG: string });
  expect((await rig.fairway("whoami")).code).toBe(0);
});

test("a bash completes commands, flags, values and names of files", async () => {
  const bin = join(rig.home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "fairway"), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  await chmod(join(bin, "fairway"), 0o755);
  await writeFile(join(rig.home, "openai.key"), "k");
  const complete = async (line: string) => {
    const script = [
      "source <(fairway completion bash)",
      `line=${JSON.stringify(line)}; COMP_WORDS=($line); [[ $line == *" " ]] && COMP_WORDS+=("")`,
      "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fairway",
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join("\n");
    const { PATH = "", ...rest } = environment(rig.env);
    const child = spawn("bash", ["--norc", "-c", script], { env: { ...rest, PATH: `${bin}:${PATH}` }, cwd: rig.home });
    let out = "";
    child.stdout.on("data", (part: Buffer) => (out += part.toString()));
    await once(child, "close");
    return out.split("\n").filter((word) => word !== "");
  };
  expect(await complete("fairway log")).toEqual(["login", "logout", "log"]);
  expect(await complete("fairway token d")).toEqual(["disable", "delete"]);
  expect(await complete("fairway channel list --sta")).toEqual(["--status"]);
  expect(await complete("fairway channel list --status ")).toEqual(["enabled", "disabled", "auto-disabled", "auto"]);
  expect(await complete("fairway option get RetryT")).toEqual(["RetryTimes"]);
  expect(await complete("fairway completion ")).toEqual(["bash", "zsh", "fish", "powershell"]);
  // The command offers no completions here, so bash falls back to file names.
  expect(await complete("fairway channel create --key-file op")).toEqual([]);
  const { out } = await run(["completion", "bash"], {});
  expect(out).toContain("complete -o default");
});

test("a shell that is not known names those that are", async () => {
  const { code, err } = await run(["completion", "tcsh"], {});
  expect(code).toBe(2);
  expect(err).toContain("bash, zsh, fish");
});

test("doctor finds nothing wrong with a gateway that is well", async () => {
  const { code, out, err } = await rig.fairway("doctor -o jsonl");
  expect(code, out + err).toBe(0);
  const findings = parseRows({ code, out, err });
  expect(findings.map(({ check, verdict }) => [check, verdict])).toEqual(
    "files address gateway proxy sign-in limit_of_calls database features streams clock"
      .split(" ")
      .map((check) => [check.replaceAll("_", " "), "ok"]),
  );
});

test("doctor names a token that is not known, and a proxy that holds streams back", async () => {
  const stranger = await run(["doctor"], { FAIRWAY_SERVER: rig.gateway.url, FAIRWAY_TOKEN: "unknown" });
  expect(stranger.code).toBe(1);
  expect(stranger.out).toMatch(/^FAIL +sign-in +.*fairway login/m);
  const proxy = createServer((request, response) => {
    if (request.url?.includes("/tail")) return;
    void fetch(rig.gateway.url + (request.url ?? ""), {
      headers: { authorization: request.headers.authorization ?? "" },
    }).then(async (answer) => response.writeHead(answer.status).end(await answer.text()));
  }).listen(0, "127.0.0.1");
  try {
    await once(proxy, "listening");
    const { token } = JSON.parse(await readFile(rig.env["FAIRWAY_CONFIG"] ?? "", "utf8")) as { token: string };
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const held = await run(["doctor"], { FAIRWAY_SERVER: address, FAIRWAY_TOKEN: token });
    expect(held.code).toBe(1);
    expect(held.out).toMatch(/^FAIL +streams +nothing of a stream arrived within 10 s.*buffering/m);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

test("login makes a token with an end and limits where they are asked for", async () => {
  const limited = { FAIRWAY_CONFIG: join(rig.home, "limited.json") };
  const wrong = await run(["login", rig.gateway.url, "--username", "root", "--scope", "everything"], limited);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain("there is no scope everything");
  const terminal = openTerminal(
    ["login", rig.gateway.url, "--username", "root", "--scope", "logs:read", "--expires", "30"],
    limited,
  );
  await terminal.sees("Password:");
  terminal.type(`${ROOT_PASSWORD}\r`);
  expect(await terminal.exited).toBe(0);
  expect((await run(["whoami"], limited)).code).toBe(0);
  expect((await run(["log", "list"], limited)).code).toBe(0);
  const refused = await run(["channel", "list"], limited);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("This access token lacks the scope channels:read.");
  // This is the token of the rig, which a sign-in of the same name has replaced.
  await signIn(rig.gateway.url, rig.env as { FAIRWAY_CONFIG: string });
});
