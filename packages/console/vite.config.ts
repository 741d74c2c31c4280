import react from "@vitejs/plugin-react";
import { defineConfig, type Rolldown, type UserConfig } from "vite";
import { planChunks } from "./chunks.ts";
import { preloadPages, preloadTextFont } from "./preload.ts";

const gateway = process.env.FAIRWAY_DEV_GATEWAY ?? "http://127.0.0.1:3000";

const INITIAL_FILES = [
  // A release of the console leaves the file with the libraries unchanged, so it stays in the browser's cache.
  { name: "react", test: /node_modules\/(react|react-dom|scheduler|react-router)\/|rolldown\/runtime/, priority: 3 },
  { name: "entry", tags: ["$initial"], priority: 2 },
] satisfies Rolldown.CodeSplittingGroup[];

const config = {
  root: import.meta.dirname,
  plugins: [react(), preloadTextFont(), preloadPages(import.meta.dirname)],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    // Fonts stay files: the content security policy allows no data addresses for them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      treeshake: {
        // Chakra declares its recipes with these functions; if they are not marked as pure, all recipes stay in the
        // bundle (23 kB).
        manualPureFunctions: [
          "defineConfig",
          "defineRecipe",
          "defineSlotRecipe",
          "defineTokens",
          "defineSemanticTokens",
          "mergeConfigs",
          "createSystem",
        ],
        // The contract is a list of declarations: a page includes only the calls that it makes.
        moduleSideEffects: [{ test: /packages\/wire\//, sideEffects: false }],
      },
      output: { codeSplitting: { groups: [...INITIAL_FILES] } },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": gateway, "/pg": gateway, "/v1": gateway },
  },
} satisfies UserConfig;

export default defineConfig(async ({ command }) => {
  if (command !== "build") return config;
  const name = await planChunks(config);
  const groups = [...INITIAL_FILES, { name, priority: 1, includeDependenciesRecursively: false }];
  const rolldownOptions = { ...config.build.rolldownOptions, output: { codeSplitting: { groups } } };
  return { ...config, build: { ...config.build, rolldownOptions } };
});
