// `fairway doctor`: each check passes, or says what is wrong and how to fix it.
import { createCertificates } from "@fairway/testkit/services/certificates";
import { ROOT_PASSWORD } from "@fairway/testkit";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { createServer, request as ask, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { VERSION } from "../src/core/version.ts";
import { parseRows, startRig, type Rig } from "./rig.ts";
import { run, type Finished } from "./terminal.ts";

let rig: Rig;
const open: Server[] = [];
beforeAll(async () => void (rig = await startRig({ FAIRWAY_LIMIT_API: "500/180,1000/180" })));
afterAll(() => rig?.stop());
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen<S extends Server>(server: S): Promise<number> {
  open.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Passes calls on to the gateway; `change` may rewrite a whole answer. */
function passing(change: (path: string, text: string) => string = (_path, text) => text): RequestListener {
  return (request, response) => {
    const path = (request.url ?? "").replace(/^http:\/\/[^/]+/, "");
    const { host: _host, "accept-encoding": _encoding, ...headers } = request.headers;
    const sent = ask(rig.gateway.url + path, { method: request.method, headers }, (answer) => {
      const { "content-length": _length, ...others } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, others);
      if (path.includes("tail")) return void answer.pipe(response);
      let text = "";
      answer.on("data", (part: Buffer) => (text += part.toString()));
      answer.once("end", () => response.end(change(path, text)));
    });
    request.pipe(sent);
  };
}

interface Found {
  readonly verdict: string;
  readonly message: string;
  readonly cure?: string;
}

function readFindings(done: Finished): Record<string, Found> {
  return Object.fromEntries(parseRows(done).map(({ check, ...found }) => [check, found])) as Record<string, Found>;
}

const doctor = async (env: Record<string, string>, ...flags: string[]) => {
  const done = await run(["doctor", "-o", "jsonl", ...flags], env);
  return { ...done, found: readFindings(done) };
};
const byToken = (server: string) => ({ FAIRWAY_SERVER: server, FAIRWAY_TOKEN: rig.token });

test("a gateway that is well has no fault, and each check a line", async () => {
  const { code, err, found } = await doctor(rig.env);
  expect(code, err).toBe(0);
  expect(Object.entries(found).map(([check, { verdict }]) => `${check} ${verdict}`)).toEqual(
    "files address gateway proxy sign-in limit_of_calls database features streams clock"
      .split(" ")
      .map((check) => `${check.replaceAll("_", " ")} ok`),
  );
  expect(found["sign-in"]?.message).toBe("root, super administrator, without an end");
  expect(found["limit of calls"]?.message).toMatch(/^\d+ of 1000 calls are left$/);
  expect(found["features"]?.message).toMatch(/^all \d+ that/);
});

test("the name and the certificate of the server are looked at", async () => {
  const [short, long] = [await createCertificates(), await createCertificates(90)];
  try {
    for (const [files, verdict, days] of [
      [short, "warning", 1],
      [long, "ok", 89],
    ] as const) {
      const [key, cert] = await Promise.all([readFile(files.key), readFile(files.cert)]);
      const port = await listen(createTlsServer({ key, cert }, passing()));
      const env = byToken(`https://localhost:${port}`);
      const { code, found } = await doctor(env, "--ca-file", files.ca);
      expect(code).toBe(0);
      expect(found["name"]?.message).toMatch(/^localhost is (127|::1)/);
      expect(found["certificate"]).toMatchObject({ verdict });
      expect(found["certificate"]?.message).toMatch(
        new RegExp(`^TLSv1.3, signed by fairway test authority, ends in ${days} days \\(2\\d\\d\\d-`),
      );
      const untrusted = await doctor(env);
      expect(untrusted.code).toBe(1);
      expect(untrusted.found["certificate"]).toMatchObject({
        verdict: "failure",
        cure: expect.stringContaining("--ca-file") as string,
      });
      expect(untrusted.found["gateway"]).toBeUndefined();
    }
  } finally {
    for (const { ca } of [short, long]) await rm(dirname(ca), { recursive: true });
  }
});

test("a name without an address, and a server that is away", async () => {
  const { code, found } = await doctor(byToken("https://no-such-host.invalid"));
  expect(code).toBe(1);
  expect(found["name"]?.message).toMatch(/^no-such-host.invalid has no address \(E/);
  expect(found["name"]?.cure).toContain("name servers");
  expect(Object.keys(found)).toEqual(["files", "address", "name", "proxy"]);
  const away = await doctor(byToken("http://127.0.0.1:9"));
  expect(away.found["gateway"]).toMatchObject({ verdict: "failure", cure: expect.stringContaining("runs") as string });
});

test("the servers that the gateway calls are named by their proxies, if it has any", async () => {
  const outgoing = [
    { part: "channels", host: "api.example", proxy: "proxy:3128" },
    { part: "channels", host: "vllm.svc", proxy: null },
    { part: "traces", host: "api.example", proxy: "proxy:3128" },
  ];
  const port = await listen(
    createServer(
      passing((_path, text) => text.replace(/"outgoing":\[[^\]]*\]/, `"outgoing":${JSON.stringify(outgoing)}`)),
    ),
  );
  const done = await run(["doctor", "-o", "jsonl"], byToken(`http://127.0.0.1:${port}`));
  const lines = parseRows(done).filter(({ check }) => check === "outgoing");
  expect(lines.map(({ message }) => message)).toEqual(["through proxy:3128: api.example", "directly: vllm.svc"]);
});

test("another version, missing features and few calls that are left are warnings", async () => {
  const port = await listen(
    createServer((request, response) => {
      const set = response.writeHead.bind(response);
      response.writeHead = ((status: number, headers: Record<string, string>) =>
        set(status, {
          ...headers,
          "x-ratelimit-limit-requests": "180",
          "x-ratelimit-remaining-requests": "3",
          "x-ratelimit-reset-requests": "41s",
          date: new Date(Date.now() - 300_000).toUTCString(),
        })) as typeof response.writeHead;
      passing((_path, text) =>
        text.replaceAll(`"version":"${VERSION}"`, '"version":"9.9.9"').replace('"declarative",', ""),
      )(request, response);
    }),
  );
  const { code, found } = await doctor(byToken(`http://127.0.0.1:${port}`));
  expect(code).toBe(0);
  expect(found["gateway"]).toMatchObject({ verdict: "warning", cure: "use the same of both" });
  expect(found["features"]).toMatchObject({ verdict: "warning", message: "it lacks declarative" });
  expect(found["limit of calls"]).toEqual({
    verdict: "warning",
    message: "3 of 180 calls are left",
    cure: "wait 41 s, or raise FAIRWAY_LIMIT_API of the gateway",
  });
  expect(found["clock"]).toMatchObject({ verdict: "warning" });
  expect(found["clock"]?.message).toMatch(/^(299|300|301) s ahead of the gateway$/);
});

test("proxies of the environment: past them, through them, and one that is away", async () => {
  const past = await doctor({ ...rig.env, HTTP_PROXY: "http://ann:pass@127.0.0.1:9" });
  expect(past.found["proxy"]).toEqual({ verdict: "ok", message: "calls go past 127.0.0.1:9 (HTTP_PROXY)" });
  let calls = 0;
  const pass = passing();
  const port = await listen(
    createServer((request, response) => {
      if (request.url?.startsWith("http://")) calls += 1;
      pass(request, response);
    }),
  );
  const env = { ...rig.env, HTTP_PROXY: `http://127.0.0.1:${port}`, NODE_USE_ENV_PROXY: "1" };
  const through = await doctor(env);
  expect(through.code, through.err).toBe(0);
  expect(through.found["proxy"]?.message).toBe(`calls go through 127.0.0.1:${port} (HTTP_PROXY)`);
  expect(calls).toBeGreaterThan(3);
  const away = await doctor({ ...env, HTTP_PROXY: "http://127.0.0.1:9" });
  expect(away.code).toBe(1);
  expect(away.found["proxy"]).toMatchObject({ verdict: "warning", cure: expect.stringContaining("unset") as string });
  const excepted = await doctor({ ...env, HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" });
  expect(excepted.code).toBe(0);
});

test("a token that ends soon, one that is unknown, and no sign-in", async () => {
  const env = { FAIRWAY_CONFIG: join(rig.home, "short.json") };
  const login = ["login", rig.gateway.url, "--username", "root", "--password-stdin", "--expires", "3"];
  expect((await run(login, env, ROOT_PASSWORD)).code).toBe(0);
  const { code, found } = await doctor(env);
  expect(code).toBe(0);
  expect(found["sign-in"]).toMatchObject({ verdict: "warning" });
  expect(found["sign-in"]?.message).toMatch(/^root, super administrator, for [23] more days$/);
  expect((await run(["whoami"], env)).out).toMatch(/^token +for [23] more days$/m);
  const stranger = await doctor({ FAIRWAY_SERVER: rig.gateway.url, FAIRWAY_TOKEN: "unknown" });
  expect(stranger.code).toBe(1);
  expect(stranger.found["sign-in"]).toMatchObject({ verdict: "failure", cure: "sign in with `fairway login`" });
  const absent = await doctor({ FAIRWAY_CONFIG: join(rig.home, "nothing.json") });
  expect(absent.code).toBe(1);
  expect(absent.found).toEqual({
    files: { verdict: "failure", message: "you are not signed in", cure: "sign in with `fairway login URL`" },
  });
});
