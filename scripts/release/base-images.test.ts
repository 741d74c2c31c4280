import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { ROOT } from "../bootstrap.mjs";
import { checkBaseImages, unpinnedImages, withDigests } from "./base-images.ts";
import { parseReference } from "./registry.ts";

const DIGEST = `sha256:${"0a".repeat(32)}`;

it("finds the images without a digest, each once, and no stage of the file itself", () => {
  const file = `FROM debian:12-slim AS build\nFROM --platform=linux/amd64 node@${DIGEST}\nFROM debian:12-slim\nFROM build\nFROM scratch`;
  expect(unpinnedImages(file)).toEqual(["debian:12-slim"]);
  expect(unpinnedImages(`FROM debian:12-slim@${DIGEST} AS build\nFROM build`)).toEqual([]);
});

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function registry(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ["debian:12-slim", { host: "registry-1.docker.io", name: "library/debian", tag: "12-slim" }],
  ["team/base", { host: "registry-1.docker.io", name: "team/base", tag: "latest" }],
  ["localhost:5000/a/b:1", { host: "localhost:5000", name: "a/b", tag: "1" }],
  ["registry.example/a:2", { host: "registry.example", name: "a", tag: "2" }],
])("reads %s as Docker does", (image, reference) => {
  expect(parseReference(image)).toEqual(reference);
});

it("writes the digests that the registry has, in every stage, and renews older ones", async () => {
  const asked: string[] = [];
  const host = await registry(({ method, url = "", headers }, response) => {
    asked.push(`${method} ${url}`);
    const { pathname, searchParams } = new URL(url, "http://registry");
    if (pathname === "/token") response.end(JSON.stringify({ token: `for ${searchParams.get("scope")}` }));
    else if (headers.authorization !== "Bearer for repository:debian:pull")
      response
        .writeHead(401, {
          "www-authenticate": `Bearer realm="http://${host}/token",service="registry",scope="repository:debian:pull"`,
        })
        .end();
    else response.writeHead(200, { "docker-content-digest": DIGEST }).end();
  });
  const image = `${host}/debian:12-slim`;
  const old = `${image}@sha256:${"1b".repeat(32)}`;
  const file = `FROM ${image} AS build\nRUN echo FROM ${image}\nFROM --platform=linux/amd64 ${old}\nFROM build\n`;
  const now = `${image}@${DIGEST}`;
  expect(await withDigests(file)).toBe(
    `FROM ${now} AS build\nRUN echo FROM ${image}\nFROM --platform=linux/amd64 ${now}\nFROM build\n`,
  );
  expect(asked).toContain("HEAD /v2/debian/manifests/12-slim");
});

it.each<[string, RequestListener, string]>([
  ["an unknown tag", (_, response) => response.writeHead(404).end(), "answered 404"],
  ["a password", (_, response) => response.writeHead(401, { "www-authenticate": "Basic" }).end(), "wants a password"],
  ["no digest", (_, response) => response.writeHead(200).end(), "names no digest"],
])("says what is in the way: %s", async (_, answer, message) => {
  const image = `${await registry(answer)}/debian:12-slim`;
  await expect(withDigests(`FROM ${image}\n`)).rejects.toThrow(message);
});

it("a release is refused with the commands that pin and print the digest, until every image has one", () => {
  const images = unpinnedImages(readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8"));
  if (images.length === 0) return expect(checkBaseImages()).toBeUndefined();
  expect(checkBaseImages).toThrow("npm run release -- --pin");
  expect(checkBaseImages).toThrow(`docker buildx imagetools inspect ${images[0]} --format`);
});

it("the image installs what the lock file says, with an exact npm", () => {
  const file = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
  expect(file).toMatch(/^RUN npm ci /m);
  expect(file).toMatch(/npm@\d+\.\d+\.\d+\s/);
});
