import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin, Rolldown } from "vite";

type Bundle = Rolldown.OutputBundle;

/** Matches `/log` and the module of its page, as written in the routes. */
const ROUTE =
  /(?:path: "([^"]+)"[^{}]*?load: async \(\) =>|"(\/[^"]*)": async \(\) =>)[^;]*?import\("\.\.\/([^"]+)"\)/gs;

/** Maps addresses of pages to the modules that show them. */
export function pageModules(...sources: readonly string[]): Map<string, string> {
  return new Map(
    sources.flatMap((source) =>
      [...source.matchAll(ROUTE)].map(([, page, visitors, module = ""]) => [page ?? visitors ?? "", module] as const),
    ),
  );
}

/** Returns the files that a module needs besides those of the entry: scripts and styles. */
function listFiles(module: string, bundle: Bundle): string[] {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const entry = chunks.find(({ isEntry }) => isEntry);
  const found = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/src/${module}`)));
  if (!entry || !found) throw new Error(`the build has no file for ${module}`);
  const here = new Set<string>();
  const visit = (file: string, seen: Set<string>) => {
    const chunk = bundle[file];
    if (seen.has(file) || chunk?.type !== "chunk") return seen;
    seen.add(file);
    for (const style of chunk.viteMetadata?.importedCss ?? []) seen.add(style);
    for (const next of chunk.imports) visit(next, seen);
    return seen;
  };
  visit(entry.fileName, here);
  return [...visit(found.fileName, new Set())].filter((file) => !here.has(file));
}

/**
 * Gives `boot.js`, which runs before the application, the list of files that each page needs. They load in parallel
 * with the application, and not after it has determined which page it shows.
 */
export function preloadPages(root: string): Plugin {
  return {
    name: "preload-pages",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        if (!bundle) return html;
        const sources = ["pages.ts", "router.tsx"].map((name) => readFileSync(join(root, "src/routes", name), "utf8"));
        const frame = listFiles("routes/frame/frame.tsx", bundle);
        const files: string[] = [];
        const registerFile = (file: string) => {
          const at = files.indexOf(file);
          return at < 0 ? files.push(file) - 1 : at;
        };
        const pages = [...pageModules(...sources)].map(([path, module]) => {
          const wanted = new Set([...frame, ...listFiles(module, bundle)]);
          return [path, [...wanted].map(registerFile)] as const;
        });
        const map = JSON.stringify({
          pages: Object.fromEntries(pages),
          frame: frame.map(registerFile),
          files,
        }).replaceAll('"', "&quot;");
        return html.replace('src="/boot.js"', `src="/boot.js" data-preload="${map}"`);
      },
    },
  };
}

/** Preloads the one font file that the first paint needs; its name contains a hash, so it is known only here. */
export function preloadTextFont(): Plugin {
  return {
    name: "preload-text-font",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_html, context) {
        const file = Object.keys(context.bundle ?? {}).find((name) => /geist-latin-wght-normal.*\.woff2$/.test(name));
        if (!file) return [];
        const attrs = { rel: "preload", href: `/${file}`, as: "font", type: "font/woff2", crossorigin: "" };
        return [{ tag: "link", attrs, injectTo: "head" }];
      },
    },
  };
}
