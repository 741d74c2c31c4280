// Pages and files agree: links of all pages resolve, including headings, and paths in code marks exist.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ERRORS } from "../packages/gateway/src/lib/app-error.ts";
import { ROOT } from "./bootstrap.mjs";
import { toAnchor } from "./reference/headings.ts";

const PAGES = globSync(["*.md", "docs/**/*.md", "packages/*/README.md", "charts/fairway/README.md"], {
  cwd: ROOT,
}).toSorted();
/** Pages about one package name its files relative to these folders. */
const BASES = [
  "",
  "packages/gateway",
  "packages/gateway/src",
  "packages/gateway/src/billing/ledger/redis",
  "packages/gateway/src/providers/core",
  "packages/gateway/src/providers/vendors",
  "packages/console/src",
];
const TOP_FOLDER = /^(?:packages|scripts|docs|charts|deploy)\/[\w./@-]+$/;
const SOURCE_FILE = /^[\w@-]+(?:\/[\w.@-]+)+\.(?:ts|tsx|mjs|json|yaml|md)$/;
/** A file that a page names without its folder. */
const BARE_FILE = /^[\w-]+(?:\.[\w-]+)*\.tsx?$/;
const basenames = new Set(
  globSync("{packages,scripts,charts,deploy}/**/*.{ts,tsx}", {
    cwd: ROOT,
    exclude: (name) => name === "node_modules",
  }).map((path) => basename(path)),
);
/** Files that commands or the reader create. */
const MADE = [
  /^packages\/\w+\/dist\//,
  /^packages\/gateway\/src\/providers\/vendors\/acme/,
  /^docs\/(?:reference\/bench(?:-api)?|explain\/faults)\.md$/,
];

const read = (page: string) => readFileSync(join(ROOT, page), "utf8");
const withoutFences = (text: string) => text.replaceAll(/^( *)```[^]*?^\1```$/gm, "");

describe.each(PAGES)("%s", (page) => {
  const text = withoutFences(read(page));

  test("links to what exists", () => {
    const prose = text.replaceAll(/`[^`\n]*`/g, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((found) => found[1] ?? "");
    expect(links.filter((link) => !/^[a-z]+:/.test(link) && !resolves(page, link))).toEqual([]);
  });

  test("names files that exist", () => {
    const marked = [...text.matchAll(/`([^`\n]+)`/g)].map((found) => found[1] ?? "");
    const paths = marked.filter((path) => TOP_FOLDER.test(path) || SOURCE_FILE.test(path));
    const bare = marked.filter((path) => BARE_FILE.test(path) && !basenames.has(path));
    const missing = paths.filter((path) => !MADE.some((made) => made.test(path)) && !isInTree(page, path));
    expect([...missing, ...bare]).toEqual([]);
  });
});

test("every page below docs can be reached from docs/README.md", () => {
  const reached = new Set(["docs/README.md"]);
  for (const page of reached) {
    const text = withoutFences(read(page));
    const links = [...text.matchAll(/\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/g)].map(([, link = ""]) =>
      join(dirname(page), link),
    );
    const named = [...text.matchAll(/`(docs\/[\w/-]+\.md)`/g)].map(([, path = ""]) => path);
    for (const target of [...links, ...named])
      if (target.startsWith("docs/") && existsSync(join(ROOT, target))) reached.add(target);
  }
  expect(PAGES.filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([]);
});

test("the page about symptoms names every error of model calls", () => {
  const page = read("docs/operate/troubleshooting.md");
  expect(Object.keys(ERRORS).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

function resolves(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, target))) return false;
  return heading === undefined || headings(target).includes(heading);
}

function headings(page: string): string[] {
  return [...withoutFences(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => toAnchor(title));
}

function isInTree(page: string, path: string): boolean {
  return [...BASES, dirname(page)].some((base) => existsSync(join(ROOT, base, path)));
}
