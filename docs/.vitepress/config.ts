// The documentation as a searchable site: `npm run docs -- --site`.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { defineConfig, type DefaultTheme, type MarkdownOptions } from "vitepress";
import { toAnchor } from "../../scripts/reference/headings.ts";

const DOCS = dirname(import.meta.dirname);
const SECTIONS = ["start", "cookbook", "operate", "reference", "explain", "performance", "contribute", "adr"];

/** Lists of checks for people who work on the code: pages of the repository, and none of the site. */
const CHECKS = ["reference/call-tests.md", "reference/weaknesses.md"];

export default defineConfig({
  title: "Fairway",
  description: "One endpoint in front of every AI model provider.",
  cleanUrls: true,
  srcExclude: CHECKS,
  outDir: join(DOCS, "../dist/docs"),
  cacheDir: join(DOCS, "../node_modules/.cache/site"),
  rewrites: { "README.md": "index.md", ":folder/README.md": ":folder/index.md" },
  markdown: {
    // Headings such as `GET /api/channel/{id}` contain braces.
    attrs: { disable: true },
    anchor: { slugify: toAnchor },
    config: unlinkOutside,
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: SECTIONS.map(section),
  },
});

function section(folder: string): DefaultTheme.SidebarItem {
  const pages = globSync("*.md", { cwd: join(DOCS, folder) })
    .filter((page) => !CHECKS.includes(`${folder}/${page}`))
    .toSorted();
  const items = pages
    .filter((page) => page !== "README.md")
    .map((page) => {
      const below = join(folder, page.replace(/\.md$/, ""));
      const children = globSync("*.md", { cwd: join(DOCS, below) }).toSorted();
      const entry = item(folder, page);
      return children.length === 0
        ? entry
        : { ...entry, items: children.map((child) => item(below, child)), collapsed: true };
    });
  return { ...item(folder, "README.md"), items, collapsed: folder === "adr" };
}

function item(folder: string, page: string): DefaultTheme.SidebarItem {
  const text = readFileSync(join(DOCS, folder, page), "utf8");
  const title = /^# (.+)$/m.exec(text)?.[1];
  if (!title) throw new Error(`docs/${folder}/${page} has no title`);
  return {
    text: title.replaceAll("`", ""),
    link: `/${folder}/${page === "README.md" ? "" : page.replace(/\.md$/, "")}`,
  };
}

/** The site has no page for a file outside `docs` and for checks, so links to them become plain text. */
function unlinkOutside(markdown: Parameters<NonNullable<MarkdownOptions["config"]>>[0]): void {
  markdown.core.ruler.push("unlink-outside", ({ tokens, env }) => {
    const { relativePath = "" } = env as { readonly relativePath?: string };
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const target = token.attrGet("href") ?? "";
          const path = normalize(join(dirname(relativePath), target.replace(/#.*$/, "")));
          isOutside = !/^[a-z]+:/.test(target) && (path.startsWith("..") || CHECKS.includes(path));
        }
        if (!isOutside || !/^link_(?:open|close)$/.test(token.type)) continue;
        if (token.type === "link_close") isOutside = false;
        Object.assign(token, { type: "text", tag: "", content: "", nesting: 0 });
      }
    }
  });
}
