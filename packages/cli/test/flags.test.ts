// Flags of every command, and the program's own settings.
import { optionUpdate, tokenCreate } from "@fairway/wire";
import { createCertificates } from "@fairway/testkit/services/certificates";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../src/core/version.ts";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { openTerminal, run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  await rig.client.call(tokenCreate, { body: { name: "bot", unlimited_quota: true } });
});
afterAll(() => rig?.stop());

const CANARY = "canary-5f0e7c1a";

test("--dry-run prints the request without its secrets and sends nothing", async () => {
  const create = [
    "channel",
    "create",
    "--type",
    "openai",
    "--name",
    "dry",
    "--models",
    "m",
    "--key-stdin",
    "--dry-run",
  ];
  const made = await run(create, rig.env, CANARY);
  expect(made.code, made.err).toBe(0);
  expect(made.out).toMatch(
    /^POST http.*\/api\/channel\/ \{.*"key":"REDACTED".*"name":"dry"|"name":"dry".*"key":"REDACTED"/,
  );
  expect(made.err).toBe("Nothing was changed: --dry-run.\n");
  expect(made.out).not.toContain(CANARY);
  const deleted = await rig.fairway("token delete ci bot --dry-run");
  expect(deleted.code, deleted.err).toBe(0);
  expect(deleted.out.match(/^DELETE /gm)).toHaveLength(2);
  expect(parseRows(await rig.fairway("token list -o jsonl"))).toHaveLength(2);
  expect(parseRows(await rig.fairway("channel list -o jsonl"))).toEqual([]);
});

test("--debug shows calls and never a secret, whatever the command", async () => {
  const key = parseJsonOutput(await rig.fairway("token create --name secret -o json"))["key"] as string;
  const id = parseJsonOutput(await rig.fairway("token get secret -o json"))["id"] as number;
  await rig.client.call(optionUpdate, { body: { key: "SMTPToken", value: CANARY } });
  const create = "channel create --type openai --name canary --models m --key-stdin";
  expect((await rig.fairway(create, CANARY)).code).toBe(0);
  const litellm = join(rig.home, "litellm.yaml");
  const params = `{ model: openai/gpt-4o-mini, api_key: sk-${CANARY} }`;
  await writeFile(litellm, `model_list:\n  - { model_name: fast, litellm_params: ${params} }\n`);
  for (const command of [
    ["channel list -o json"],
    ["channel get canary"],
    ["channel get canary -o yaml"],
    ["channel describe canary"],
    ["channel describe canary -o json"],
    [`import --from litellm ${litellm}`],
    [`import --from litellm ${litellm} --dry-run -o json`],
    ["model map --type openai"],
    ["token create --name filed --output-file " + join(rig.home, "filed.key")],
    ["redemption create --name filed --quota 1usd --output-file " + join(rig.home, "filed.codes")],
    ["channel update canary --key-stdin -o json", `${CANARY}-2`],
    ["token list -o wide"],
    [`token get ${id} -o csv`],
    ["option list"],
    ["option set SMTPToken -", CANARY],
    ["export"],
    ["user list -o jsonl"],
    ["log list --limit all"],
    ["api GET /api/channel/"],
    ["context list"],
    ["version"],
    ["status"],
    ["doctor"],
    ["channel get nothing -o json"],
  ] as const) {
    const { out, err } = await rig.fairway(`${command[0]} --debug`, command[1]);
    for (const secret of [CANARY, key, key.slice(3), rig.token]) {
      expect(out, command[0]).not.toContain(secret);
      expect(err, command[0]).not.toContain(secret);
    }
  }
  expect((await rig.fairway("token delete filed --yes")).code).toBe(0);
  expect((await rig.fairway("whoami --debug")).err).toMatch(
    /> GET http.*\/api\/user\/self\n< 200 in \d+ ms, request \S+/,
  );
  expect((await rig.fairway("channel get nothing --debug")).err).toMatch(/\n {4}at /);
  expect((await rig.fairway("channel get nothing")).err).not.toMatch(/\n {4}at /);
});

test("--show-key prints the keys that go into a file as well", async () => {
  const file = join(rig.home, "shown.key");
  const { code, out, err } = await rig.fairway(`token create --name shown --output-file ${file} --show-key`);
  expect(code, err).toBe(0);
  expect(out).toMatch(/^sk-\w+\n$/);
  expect(await readFile(file, "utf8")).toBe(out);
  expect(err).toContain(`Wrote the key to ${file}.`);
  expect((await rig.fairway("token delete shown --yes")).code).toBe(0);
});

test("rows are sorted, and written in the words of a template", async () => {
  const names = async (flags: string) => (await run(["token", "list", ...flags.split("|")], rig.env)).out;
  expect(await names("--sort|name|--columns|name|--no-headers")).toBe("bot\nci\nsecret\n");
  expect(await names("--sort|-id|-o|jsonpath={.items[*].name}")).toBe("secret bot ci\n");
  expect(await names('-o|jsonpath={range .items[*]}{.id}{"\\t"}{.name}{"\\n"}{end}')).toBe(
    "3\tsecret\n2\tbot\n1\tci\n",
  );
  expect(await names("-o|custom-columns=NAME:.name,NO:.nothing")).toBe(
    "NAME    NO\nsecret  <none>\nbot     <none>\nci      <none>\n",
  );
  expect((await run(["whoami", "-o", "jsonpath={.username}"], rig.env)).out).toBe("root\n");
  expect((await rig.fairway("token list --sort nothing")).err).toContain("there is no column nothing");
  expect(await rig.fairway("token list -o nothing")).toMatchObject({ code: 2, out: "" });
  expect((await rig.fairway("token list -o jsonpath={range")).code).toBe(2);
});

test("a fault of the certificate is named as one, and an authority is trusted on request", async () => {
  const files = await createCertificates();
  const [key, cert] = await Promise.all([readFile(files.key), readFile(files.cert)]);
  const door: Server = createServer({ key, cert }, (request, response) => {
    const headers = { authorization: request.headers.authorization ?? "" };
    void fetch(rig.gateway.url + (request.url ?? ""), { headers }).then(async (answer) => {
      response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
    });
  }).listen(0, "127.0.0.1");
  await once(door, "listening");
  const server = `https://127.0.0.1:${(door.address() as AddressInfo).port}`;
  const env = { FAIRWAY_SERVER: server, FAIRWAY_TOKEN: rig.token };
  try {
    const refused = await run(["whoami"], env);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/cannot be trusted: its certificate is signed by an authority .*\n +try +.*--ca-file/);
    expect((await run(["whoami", "--ca-file", files.ca], env)).code).toBe(0);
    expect((await run(["whoami"], { ...env, FAIRWAY_CA_FILE: files.ca })).code).toBe(0);
    const missing = await run(["whoami", "--ca-file", "/nowhere/ca.pem"], env);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.err).toContain("--ca-file: /nowhere/ca.pem cannot be read (ENOENT)");
    const plain = await run(["whoami"], {
      FAIRWAY_SERVER: rig.gateway.url.replace("http:", "https:"),
      FAIRWAY_TOKEN: "t",
    });
    expect(plain.err).toContain("it speaks no TLS");
  } finally {
    door.closeAllConnections();
    door.close();
    await rm(dirname(files.ca), { recursive: true });
  }
});

test("a context that is protected or read-only guards against mistakes", async () => {
  const env = { XDG_CONFIG_HOME: join(rig.home, "guarded") };
  const fairway = (args: string, input?: string) => run(args.split(" "), env, input);
  expect((await fairway(`-c prod login ${rig.gateway.url} --token-stdin`, rig.token)).code).toBe(0);
  expect((await fairway("context set prod protected=true")).code).toBe(0);
  const refused = await fairway("token delete bot --yes");
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("--context prod --yes");
  const terminal = openTerminal(["token", "delete", "bot"], env);
  await terminal.sees("prod is protected: type its name to confirm");
  terminal.type("y\r");
  expect(await terminal.exited).toBe(1);
  expect((await fairway("-c prod token delete bot --yes")).code).toBe(0);
  expect((await fairway("context set prod protected=false read-only=true")).code).toBe(0);
  const changed = await fairway("token disable ci");
  expect(changed.code).toBe(6);
  expect(changed.err).toContain("the context prod is read-only");
  expect((await fairway("token list")).code).toBe(0);
  expect((await fairway("context set prod everything=true")).code).toBe(2);
  expect((await fairway("context rename prod live")).code).toBe(0);
  expect((await fairway("context show")).out).toBe("live\n");
  expect((await fairway("context remove live")).code).toBe(2);
  expect((await fairway("context remove live --yes")).code).toBe(0);
  expect((await fairway("whoami")).code).toBe(4);
  await fairway(`-c one login ${rig.gateway.url} --token-stdin`, rig.token);
  await fairway(`-c two login ${rig.gateway.url} --token-stdin`, rig.token);
  expect((await fairway("logout --all")).err.match(/Signed out/g)).toHaveLength(2);
});

test("settings of the program are defaults of its flags", async () => {
  const env = { ...rig.env, XDG_CONFIG_HOME: join(rig.home, "settings") };
  const fairway = (args: string) => run(args.split(" "), env);
  expect((await fairway("config get output")).out).toBe("table\n");
  expect((await fairway("config set output json")).code).toBe(0);
  expect(parseJsonOutput(await fairway("whoami"))).toMatchObject({ username: "root" });
  expect((await fairway("config get output -o table")).out).toBe("json\n");
  expect((await run(["config", "get", "output", "-o", "raw"], { ...env, FAIRWAY_OUTPUT: "yaml" })).out).toBe("yaml\n");
  const path = (await fairway("config path")).out.trim();
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ output: "json" });
  expect((await fairway("config view -o jsonl")).out).toContain(
    `{"setting":"output","value":"json","source":"${path}"}`,
  );
  expect((await fairway("config set timeout never")).err).toContain("seconds from 1 to 3600");
  expect((await fairway("config set nothing 1")).code).toBe(2);
  expect((await fairway("config unset output")).code).toBe(0);
  expect((await fairway("config get output")).out).toBe("table\n");
});

test("versions are those of the program and of the gateway", async () => {
  const both = parseJsonOutput(await rig.fairway("version -o json"));
  expect(both).toMatchObject({ client: { version: VERSION }, server: { version: VERSION, address: rig.gateway.url } });
  expect((await run(["version", "--client"], {})).out).toMatch(
    new RegExp(`^client +${RegExp.escape(VERSION)}\nnode +\\d+`),
  );
});

test("a password comes from standard input, a timeout ends a silent gateway", async () => {
  const env = { FAIRWAY_CONFIG: join(rig.home, "by-password.json") };
  const login = ["login", rig.gateway.url, "--username", "root", "--password-stdin"];
  expect((await run(login, env, "wrong\n")).code).toBe(4);
  const silent = createHttpServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { code, err } = await run(["whoami", "--timeout", "1s"], { FAIRWAY_SERVER: address, FAIRWAY_TOKEN: "t" });
  silent.closeAllConnections();
  silent.close();
  expect(code).toBe(7);
  expect(err).toContain("gave no answer within 1 s");
  expect((await rig.fairway("whoami --timeout soon")).code).toBe(2);
});
