import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { connect, GONE, type KubeApi, type WatchEvent } from "./api.ts";

async function startApi(answer: RequestListener): Promise<KubeApi> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const folder = await mkdtemp(join(tmpdir(), "fairway-kubeconfig-"));
  const file = join(folder, "config");
  const { port } = server.address() as AddressInfo;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    clusters: [{ name: "test", cluster: { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "test", user: { token: "secret" } }],
  };
  await writeFile(file, JSON.stringify(config));
  const api = await connect(file);
  onTestFinished(async () => {
    await api.close();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  return api;
}

const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const watchAll = (api: KubeApi, on: (event: WatchEvent) => void) =>
  api.watch({ path: "/x" }, "1", on, new AbortController().signal);

test("reads the events of a watch, also when a line or a character arrives in two parts", async () => {
  const api = await startApi((_request, response) => {
    const bytes = Buffer.from(
      line("ADDED", { metadata: { name: "käthe" } }) + line("DELETED", { metadata: { name: "b" } }),
    );
    const middle = bytes.indexOf("ä") + 1;
    response.write(bytes.subarray(0, middle));
    setTimeout(() => response.end(bytes.subarray(middle)), 20);
  });
  const seen: string[] = [];
  await watchAll(api, ({ type, object }) => seen.push(`${type} ${object.metadata.name}`));
  expect(seen).toEqual(["ADDED käthe", "DELETED b"]);
});

test("a watch that the server calls too old gives its connection back, and its end throws nothing", async () => {
  const closed = vi.fn<() => void>();
  const api = await startApi((_request, response) => {
    response.on("close", closed);
    response.write(line("ERROR", { code: GONE, message: "too old resource version" }));
  });
  await expect(watchAll(api, () => {})).rejects.toMatchObject({ name: "KubeError", status: GONE });
  await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  await api.close();
});

test("names itself as the field manager of each change, and as the client of each call", async () => {
  const asked: string[] = [];
  const api = await startApi(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers["user-agent"]}`);
    response.end(JSON.stringify({ metadata: { name: "a" } }));
  });
  const signal = AbortSignal.timeout(5_000);
  await api.get("/x/a", signal);
  await api.create("/x?fieldValidation=Strict", {}, signal);
  await api.patch("/x/a/status", {}, signal);
  await api.replace("/x/a", {}, signal);
  expect(asked).toEqual([
    "GET /x/a fairway",
    "POST /x?fieldValidation=Strict&fieldManager=fairway fairway",
    "PATCH /x/a/status?fieldManager=fairway fairway",
    "PUT /x/a?fieldManager=fairway fairway",
  ]);
});
