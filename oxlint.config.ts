import { defineConfig } from "oxlint";
import { layerRules } from "./scripts/layers.ts";

const TESTS = [
  "**/*.test.ts",
  "**/*.test.tsx",
  "**/*.contract.ts",
  "packages/testkit/**",
  "**/e2e/**",
  "packages/cli/test/**",
  "packages/gateway/test/**",
  "charts/**",
];

const everywhere = [
  {
    regex: "^(?:\\.\\./)+(?:packages/)?(?:wire|gateway|console|cli|testkit)/",
    message: "Import another package by its name.",
  },
  { regex: "^@fairway/wire/", message: "wire has one entry." },
];
const notTheServer = {
  regex: "^@fairway/(?:gateway|testkit)",
  message: "Only tests and scripts reach into the server.",
};
const notTheKit = { regex: "^@fairway/testkit", message: "Product code never imports the test kit." };

interface Pattern {
  readonly regex: string;
  readonly message: string;
}
const restrictImports = (...patterns: readonly Pattern[]): ["error", { patterns: Pattern[] }] => [
  "error",
  { patterns: [...everywhere, ...patterns] },
];

const property = (object: string, name: string, message: string) => ({ object, property: name, message });
const environment = property("process", "env", "Read the environment in config/env.ts only.");
const exit = property(
  "process",
  "exit",
  "Set process.exitCode and let stop() finish: exiting drops what is not settled.",
);
const now = property("Date", "now", "Inject a Clock (lib/clock.ts); durations use performance.now().");

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  options: { typeAware: true, reportUnusedDisableDirectives: "error", denyWarnings: true },
  categories: { correctness: "error" },
  ignorePatterns: ["**/dist/**", "**/.dev/**", "**/.fairway/**", "docs/reference/**", "packages/gateway/vectors/**"],
  rules: {
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "typescript/no-unsafe-argument": "error",
    "typescript/no-unsafe-assignment": "error",
    "typescript/no-unsafe-call": "error",
    "typescript/no-unsafe-member-access": "error",
    "typescript/no-unsafe-return": "error",
    "typescript/restrict-template-expressions": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/only-throw-error": "error",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "eslint/max-lines": ["error", { max: 400, skipBlankLines: false, skipComments: true }],
    "eslint/max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
    "eslint/max-params": ["error", { max: 4 }],
    "eslint/max-depth": ["error", { max: 4 }],
    "eslint/complexity": ["error", { max: 12 }],
    "eslint/eqeqeq": "error",
    "eslint/no-var": "error",
    "eslint/prefer-const": "error",
    "eslint/no-empty": "error",
    "eslint/no-warning-comments": ["error", { terms: ["todo", "fixme", "xxx", "hack"], location: "start" }],
    "eslint/no-restricted-imports": restrictImports(),
    "vitest/no-disabled-tests": "error",
    "vitest/no-focused-tests": "error",
    // Objects are closures here: their methods never read `this`.
    "typescript/unbound-method": "off",
    "promise/valid-params": "off",
    "vitest/expect-expect": "off",
    "vitest/no-conditional-expect": "off",
    "vitest/no-standalone-expect": "off",
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
    "vitest/require-to-throw-message": "off",
    "vitest/valid-describe-callback": "off",
  },
  overrides: [
    {
      files: ["packages/wire/src/**"],
      rules: {
        "eslint/no-restricted-imports": restrictImports(
          { regex: "^@fairway/", message: "wire imports no other package." },
          { regex: "^node:", message: "wire runs in the browser too: no Node API." },
        ),
        "eslint/no-restricted-globals": ["error", { name: "process", message: "wire runs in the browser too." }],
        "eslint/no-restricted-properties": ["error", now],
      },
    },
    {
      files: ["packages/console/**", "packages/cli/**"],
      excludeFiles: TESTS,
      rules: { "eslint/no-restricted-imports": restrictImports(notTheServer) },
    },
    {
      files: ["packages/gateway/src/**"],
      excludeFiles: TESTS,
      rules: {
        "eslint/no-console": "error",
        "eslint/no-restricted-globals": [
          "error",
          { name: "fetch", message: "Global fetch costs 1.7 to 3 times the CPU; use the upstream client (undici)." },
        ],
        "eslint/no-restricted-properties": ["error", environment, exit, now],
        "eslint/no-restricted-imports": restrictImports(notTheKit),
      },
    },
    ...layerRules().map(({ files, patterns }) => ({
      files: [files],
      excludeFiles: TESTS,
      rules: { "eslint/no-restricted-imports": restrictImports(notTheKit, ...patterns) },
    })),
    {
      files: ["packages/gateway/src/config/env.ts"],
      rules: { "eslint/no-restricted-properties": ["error", exit, now] },
    },
    {
      // The process itself: after an unexpected exception its state is unknown, and nothing is left to stop in order.
      files: ["packages/gateway/src/main.ts"],
      rules: { "eslint/no-restricted-properties": ["error", environment, now] },
    },
    {
      files: ["packages/gateway/src/lib/clock.ts"],
      rules: { "eslint/no-restricted-properties": ["error", environment, exit] },
    },
    {
      // Markup is long and full of conditions without being hard to read.
      files: ["**/*.tsx"],
      rules: {
        "eslint/max-lines-per-function": ["error", { max: 200, skipBlankLines: true, skipComments: true }],
        "eslint/complexity": ["error", { max: 24 }],
      },
    },
    { files: ["scripts/**"], rules: { "eslint/no-restricted-imports": "off" } },
    { files: ["packages/console/public/*.js"], rules: { "eslint/no-var": "off" } },
    {
      files: TESTS,
      rules: { "eslint/max-lines-per-function": "off", "eslint/no-restricted-properties": "off" },
    },
    {
      // Plain JavaScript, outside every tsconfig: nothing there has a type.
      files: ["**/*.mjs", "packages/console/public/*.js"],
      rules: {
        "typescript/no-unsafe-argument": "off",
        "typescript/no-unsafe-assignment": "off",
        "typescript/no-unsafe-call": "off",
        "typescript/no-unsafe-member-access": "off",
        "typescript/no-unsafe-return": "off",
        "typescript/restrict-template-expressions": "off",
      },
    },
    {
      // A function there is one file of text.
      files: ["scripts/new/templates/*.ts"],
      rules: { "eslint/max-lines-per-function": "off" },
    },
    {
      // Their tools require a default export.
      files: ["*.config.ts", "**/*.config.ts", "docs/.vitepress/config.ts", "packages/cli/src/terminal/no-devtools.ts"],
      rules: { "import/no-default-export": "off" },
    },
  ],
});
