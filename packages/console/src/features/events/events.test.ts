import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pages } from "../../routes/pages.ts";
import { sentences } from "./locale/sentences.zh.ts";

const GATEWAY = new URL("../../../../gateway/src/", import.meta.url);

function readNames(file: string, pattern: RegExp): string[] {
  const text = readFileSync(new URL(file, GATEWAY), "utf8");
  return [...text.matchAll(pattern)].map(([, name = ""]) => name);
}

test("every type of event has a Chinese sentence", () => {
  const types = readNames("events/catalogue.ts", /^ {2}"([a-z_]+\.[a-z_]+)": (?:operator|owner)\(/gm);
  expect(types.length).toBeGreaterThan(25);
  expect(Object.keys(sentences).toSorted()).toEqual(types.toSorted());
  // Redis is a name in Chinese too.
  for (const sentence of Object.values(sentences)) expect(sentence.replace("Redis", "")).not.toMatch(/[A-Za-z]/);
});

test("every link in a message leads to a page of the console", () => {
  const links = readNames("webhooks/texts/page-address.ts", /^ {2}\w+: "(\/[^"]*)",$/gm);
  expect(links.length).toBeGreaterThan(8);
  const paths: readonly string[] = pages.map(({ path }) => path);
  for (const link of links) expect(paths).toContain(link);
});
