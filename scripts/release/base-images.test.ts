import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../bootstrap.mjs";
import { checkBaseImages, unpinnedImages } from "./base-images.ts";

const DIGEST = `sha256:${"0a".repeat(32)}`;

it("finds the images without a digest, each once, and no stage of the file itself", () => {
  const file = `FROM debian:12-slim AS build\nFROM --platform=linux/amd64 node@${DIGEST}\nFROM debian:12-slim\nFROM build\nFROM scratch`;
  expect(unpinnedImages(file)).toEqual(["debian:12-slim"]);
  expect(unpinnedImages(`FROM debian:12-slim@${DIGEST} AS build\nFROM build`)).toEqual([]);
});

it("a release is refused with the command that prints the digest, until every image has one", () => {
  const images = unpinnedImages(readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8"));
  if (images.length === 0) return expect(checkBaseImages()).toBeUndefined();
  expect(checkBaseImages).toThrow(`docker buildx imagetools inspect ${images[0]} --format`);
});

it("the image installs what the lock file says, with an exact npm", () => {
  const file = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
  expect(file).toMatch(/^RUN npm ci /m);
  expect(file).toMatch(/npm@\d+\.\d+\.\d+\s/);
});
