// The page's statements about nginx, tested on nginx: a gateway behind its defaults, and with the annotations of the
// example.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createChannel,
  createToken,
  freePort,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
} from "@fairway/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { CHART, parseObjects, requireObject, run } from "./helm.ts";

const PREFIX = "nginx.ingress.kubernetes.io/";
const cleanups: (() => unknown)[] = [];
let bare = "";
let annotated = "";
let headers: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const [gateway, upstream] = await Promise.all([startGateway(), startUpstream()]);
  cleanups.push(
    () => gateway.stop(),
    () => upstream.stop(),
  );
  const root = await signIn(gateway.url);
  await createChannel(root, { base_url: upstream.url, models: "gpt-4o-mini,hang-after-3" });
  await setOptions(root, { SelfUseModeEnabled: "true" });
  headers = { authorization: `Bearer ${await createToken(root)}`, "content-type": "application/json" };
  bare = await startNginx(gateway.url, []);
  annotated = await startNginx(gateway.url, toDirectives(await readExampleAnnotations()));
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

async function readExampleAnnotations(): Promise<Readonly<Record<string, string>>> {
  const page = readFileSync(join(CHART, "../../docs/operate/kubernetes.md"), "utf8");
  const [, values = ""] = /^```yaml\n(# values\.yaml: Ingress[^]*?)^```$/m.exec(page) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "fairway-nginx-values-"));
  try {
    writeFileSync(join(folder, "values.yaml"), values);
    const files = [join(CHART, "ci/mysql.yaml"), join(folder, "values.yaml")].flatMap((file) => ["-f", file]);
    const { output } = await run(findHelm(), ["template", "fairway", CHART, ...files]);
    return requireObject(parseObjects(output), "Ingress").metadata.annotations ?? {};
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the directives that the controller writes for annotations: they have the same name, except the one for
 * bodies.
 */
function toDirectives(annotations: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(annotations).map(([name, value]) => {
    const directive = name.slice(PREFIX.length).replace("proxy-body-size", "client-max-body-size").replaceAll("-", "_");
    return `${directive} ${value}${directive.endsWith("timeout") ? "s" : ""};`;
  });
}

/** Starts an nginx in front of the gateway; returns its address. */
async function startNginx(target: string, directives: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "fairway-nginx-"));
  const address = `127.0.0.1:${await freePort()}`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const location = `location / { proxy_http_version 1.1; proxy_pass ${target}; }`;
  writeFileSync(
    join(folder, "nginx.conf"),
    `user root; daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; ${temporary.join(" ")} server { listen ${address}; ${directives.join(" ")} ${location} } }`,
  );
  const child = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")]);
  const endWithTests = () => void child.kill("SIGTERM");
  process.once("exit", endWithTests);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  cleanups.push(async () => {
    process.off("exit", endWithTests);
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  while (
    !(await fetch(`http://${address}/api/status`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "error.log"), "utf8"));
  return `http://${address}`;
}

function ask(url: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

describe("behind nginx", () => {
  it.each([
    ["as it comes", () => bare],
    ["with the annotations of the page", () => annotated],
  ])("%s, tokens of a stream arrive while it runs", async (_, url) => {
    const leaving = new AbortController();
    const messages = [{ role: "user", content: "Hi" }];
    const answer = await ask(url(), { model: "hang-after-3", stream: true, messages }, leaving.signal);
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = answer.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^data: \{/);
    leaving.abort();
  });

  it("needs the annotations for prompts beyond 1 MiB", async () => {
    const messages = [{ role: "user", content: "word ".repeat(400_000) }];
    expect((await ask(bare, { model: "gpt-4o-mini", messages })).status).toBe(413);
    const answer = await ask(annotated, { model: "gpt-4o-mini", messages });
    expect(answer.status, await answer.text()).toBe(200);
  });
});
