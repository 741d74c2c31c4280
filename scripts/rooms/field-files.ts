// Product files that name the fields of a noun.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toCamelCase } from "../../packages/wire/src/index.ts";
import { ROOT } from "../bootstrap.mjs";
import { listProductFiles } from "./imports.ts";

const PACKAGES = ["wire", "gateway", "console", "cli"].map((name) => `packages/${name}/src`);
export const MIGRATIONS = "packages/gateway/src/storage/schema/migrations/";

const texts = new Map(
  PACKAGES.flatMap((folder) =>
    listProductFiles(join(ROOT, folder)).map((file) => [
      `${folder}/${file}`,
      readFileSync(join(ROOT, folder, file), "utf8"),
    ]),
  ),
);

function buildPattern(field: string): RegExp {
  return new RegExp(`\\b(?:${field}|${toCamelCase(field)})\\b`);
}

/** Returns the files that name a field. The migration and the line that registers it are one step. */
export function listFiles(field: string): string[] {
  const pattern = buildPattern(field);
  const found = [...texts].filter(([, text]) => pattern.test(text)).map(([file]) => file);
  return found.filter((file) => file !== `${MIGRATIONS}index.ts`);
}

/** Returns the files that name so many fields that they list them. Names of one word have other meanings too. */
export function listLists(fields: readonly string[], least: number): string[] {
  const patterns = fields.filter((name) => name.includes("_")).map(buildPattern);
  const lists = [...texts].filter(([, text]) => patterns.filter((one) => one.test(text)).length >= least);
  return lists.map(([file]) => file);
}
