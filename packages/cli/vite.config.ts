import { defineConfig } from "vite";

/** Modules that nearly every command loads: one file opens faster than twenty. */
const BASE =
  /cli\/src\/(core\/(exit|problem|nearest)|session\/(link|session|transport|request|lost|redacted|config|named-problem)|print\/(output|columns|format|printable|rows|sheet|table|width|json-rows)|commands\/(paging|times))\.ts|wire\/src\/core\/(?!openapi|index)|node_modules\/zod\//;

/** Returns a name such as `wire-channels-channels` for `packages/wire/src/channels/channels.ts`. */
function wireFile(id: string): string | null {
  const file = /packages\/wire\/src\/(.+)\.ts$/.exec(id)?.[1];
  return file === undefined ? null : `wire-${file.replaceAll("/", "-")}`;
}

// One file with everything inside, so that the program starts fast and needs no node_modules.
export default defineConfig({
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    ssr: "src/entry.ts",
    target: "node22",
    outDir: "dist",
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        entryFileNames: "fairway.mjs",
        chunkFileNames: "[name].mjs",
        // Removing blanks and comments saves a third of the reading at each start. Names stay, so that a trace is
        // readable.
        minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
        // From the contract only the calls that a command makes are loaded: schemas are built when their file loads.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: "base", test: BASE, priority: 1 },
            { name: wireFile, test: /packages\/wire\/src\// },
          ],
        },
        banner: (chunk) => (chunk.isEntry ? "#!/usr/bin/env node" : ""),
      },
    },
  },
  ssr: { noExternal: true },
  resolve: { alias: { "react-devtools-core": new URL("src/terminal/no-devtools.ts", import.meta.url).pathname } },
});
