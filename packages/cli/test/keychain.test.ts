// Tokens in the system's keychain, through its own program.
import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "@fairway/testkit";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "./terminal.ts";

let gateway: GatewayProcess;
let home: string;
let env: Record<string, string>;

/** Imitates `secret-tool` with a folder as its keyring; the real one needs a desktop session. */
const SECRET_TOOL = `#!/bin/sh
mkdir -p "$HOME/keyring"
verb=$1; shift
case "$1" in --label=*) shift;; esac
file="$HOME/keyring/$(echo "$4" | tr -c 'a-zA-Z0-9\\n' _)"
echo "$verb $*" >> "$HOME/calls"
case "$verb" in
  store) cat > "$file" ;;
  lookup) cat "$file" 2>/dev/null ;;
  clear) rm -f "$file" ;;
esac
`;

beforeAll(async () => {
  gateway = await startGateway();
  home = await mkdtemp(join(tmpdir(), "fairway-keychain-"));
  const bin = join(home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "secret-tool"), SECRET_TOOL);
  await chmod(join(bin, "secret-tool"), 0o755);
  env = { HOME: home, XDG_CONFIG_HOME: home, PATH: `${bin}:${process.env["PATH"] ?? ""}` };
});
afterAll(async () => {
  await gateway?.stop();
  await rm(home, { recursive: true, force: true });
});

const fairway = (line: string, input = "") => run(line.trim().split(" "), env, input);
const login = (more: string) => fairway(`login ${gateway.url} --username root --password-stdin ${more}`, ROOT_PASSWORD);
const stored = async () =>
  JSON.parse(await readFile(join(home, "fairway/credentials.json"), "utf8")) as { token: string; keychain?: string };
const storedNames = () => readdir(join(home, "keyring"));

test("a token goes into the keychain, through a pipe, and is used from there", async () => {
  const { code, err } = await login("--store keychain");
  expect(code, err).toBe(0);
  expect(err).toContain("the keychain");
  expect((await stored()).token).toBe("");
  const [name = ""] = await storedNames();
  const token = await readFile(join(home, "keyring", name), "utf8");
  expect(token).not.toBe("");
  expect((await fairway("whoami")).code).toBe(0);
  expect(await readFile(join(home, "calls"), "utf8")).not.toContain(token);
  expect((await fairway("doctor")).out).toMatch(/^ok +keychain +it has the token$/m);
  await rm(join(home, "keyring", name));
  const lost = await fairway("doctor");
  expect(lost.code).toBe(1);
  expect(lost.out).toMatch(/^FAIL +keychain +.*fairway login/m);
  await writeFile(join(home, "keyring", name), token);
});

test("a new sign-in stays there, moves to the file on request, and a sign-out takes it away", async () => {
  expect((await login("")).code).toBe(0);
  expect((await stored()).token).toBe("");
  expect(await storedNames()).toHaveLength(1);
  expect((await login("--store file")).code).toBe(0);
  expect((await stored()).token).not.toBe("");
  expect(await storedNames()).toEqual([]);
  await login("--store keychain");
  const out = await fairway("logout --revoke");
  expect(out.code, out.err).toBe(0);
  expect(await storedNames()).toEqual([]);
});

test("a keychain that lost the token, or that this machine does not have, says what to do", async () => {
  await login("--store keychain");
  const [name = ""] = await storedNames();
  await rm(join(home, "keyring", name));
  const lost = await fairway("whoami");
  expect(lost.code).toBe(4);
  expect(lost.err).toContain("the keychain holds no token of this context");
  const without = { ...env, PATH: dirname(process.execPath), XDG_CONFIG_HOME: join(home, "other") };
  const words = ["login", gateway.url, "--username", "root", "--password-stdin", "--store", "keychain"];
  const { code, err } = await run(words, without, ROOT_PASSWORD);
  expect(code).toBe(2);
  expect(err).toContain("the keychain is not available: secret-tool cannot be run");
  expect(err).toContain("libsecret-tools");
});
