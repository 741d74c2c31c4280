// Builds the documentation as a site; VitePress itself refuses a link to a page that does not exist.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { ROOT } from "./bootstrap.mjs";
import { run } from "./process.ts";

const SITE = join(ROOT, "dist/docs");
const read = (path: string) => readFileSync(join(SITE, path), "utf8");

beforeAll(async () => {
  const { code, output } = await run(process.execPath, [join(ROOT, "scripts/docs.ts"), "--site"]);
  expect(code, output).toBe(0);
});

it("has a page for every Markdown file of docs, except for lists of checks", () => {
  const wanted = globSync("**/*.md", { cwd: join(ROOT, "docs") })
    .filter((path) => !/^reference\/(?:call-tests|weaknesses)\.md$/.test(path))
    .map((path) => path.replace(/README\.md$/, "index.md").replace(/md$/, "html"));
  expect(globSync("**/*.html", { cwd: SITE }).toSorted()).toEqual([...wanted, "404.html"].toSorted());
});

it("has a search index with the headings of the pages", () => {
  const [index = ""] = globSync("assets/chunks/@localSearchIndexroot.*.js", { cwd: SITE });
  expect(read(index)).toContain("The life of a charge");
});

it("links to headings by the anchors that GitHub makes", () => {
  expect(read("explain/billing.html")).toContain('id="prove-it"');
  expect(read("reference/api.html")).toMatch(/id="[a-z-]+"/);
});

it("has no link that leaves the documentation for a file of the repository", () => {
  const outside = globSync("**/*.html", { cwd: SITE }).filter((path) =>
    /href="(?:\.\.\/)+[^"]*\.(?:md|ts)/.test(read(path)),
  );
  expect(outside).toEqual([]);
});
