import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CHANNEL_FIELDS, type ChannelField } from "@fairway/wire";
import { expect, test } from "vitest";

const root = import.meta.dirname;
const files = globSync("**/*.{ts,tsx}", { cwd: root }).filter((file) => !file.includes(".test."));

function listImports(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const paths = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
  return paths.map((path) => relative(root, join(root, dirname(file), path)));
}

test("no feature imports another feature", () => {
  const features = files.filter((file) => file.startsWith("features/"));
  const wrong = features.flatMap((file) => {
    const own = file.split("/").slice(0, 2).join("/");
    return listImports(file)
      .filter((path) => path.startsWith("features/") && !path.startsWith(`${own}/`))
      .map((path) => `${file} -> ${path}`);
  });
  expect(features).not.toEqual([]);
  expect(wrong).toEqual([]);
});

test("keys of queries come from the registry", () => {
  const known = /^(queryKeys\b|\w+Query(\([^)]*\))?\.queryKey\b|key\b)/;
  const wrong = files
    .filter((file) => file !== "lib/query-keys.ts")
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return [...text.matchAll(/\b(?:queryKey: |(?:get|set)QueryData(?:<.*>)?\(|mutationKey: )([^\n]*)/g)]
        .map((match) => match[1] ?? "")
        .filter((key) => !known.test(key) && !/^queryKey\b/.test(key))
        .map((key) => `${file}: ${key}`);
    });
  expect(wrong).toEqual([]);
});

test("every language uses the places of the English text", async () => {
  // A translation may repeat a placeholder and move it.
  const places = (text: string) => new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  for (const file of files.filter((name) => name.endsWith("locale/zh.ts"))) {
    const { zh } = (await import(join(root, file))) as { zh: Record<string, string> };
    const { en } = (await import(join(root, file.replace("zh.ts", "en.ts")))) as { en: Record<string, string> };
    expect(Object.keys(zh), `keys of ${file}`).toEqual(Object.keys(en));
    for (const [key, text] of Object.entries(zh)) {
      expect(places(text), `${file}: ${key}`).toEqual(places(en[key] ?? ""));
    }
  }
});

test("every English text is used", () => {
  for (const file of files.filter((name) => name.endsWith("locale/en.ts"))) {
    const folder = dirname(dirname(file));
    // Every folder above `ui` and `shared` uses their texts, and components of `ui` take texts of features by name.
    const scopes = folder === "ui" || folder === "shared" ? [""] : [`${folder}/`, "ui/"];
    const sources = files.filter(
      (name) => scopes.some((scope) => name.startsWith(scope)) && !name.includes("/locale/"),
    );
    const declared = Object.values<ChannelField>(CHANNEL_FIELDS).map(({ form }) => form);
    const code = [...sources.map((name) => readFileSync(join(root, name), "utf8")), JSON.stringify(declared)].join(
      "\n",
    );
    const keys = [...readFileSync(join(root, file), "utf8").matchAll(/^  (\w+):/gm)].map((match) => match[1] ?? "");
    const unused = keys.filter(
      (key) => !code.includes(`"${key}"`) && !/(Body|Action|Key)$/.test(key) && !/^role\d+$/.test(key),
    );
    expect(unused, `unused in ${file}`).toEqual([]);
  }
});
