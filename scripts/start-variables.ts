import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { ALLOCATOR } from "./memory.ts";
import { COMPILE_CACHE } from "./process.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns the variables of the gateway that `npm start` runs: the shell overrides the file `.env`, which overrides
 * defaults.
 */
export function startVariables(root: string, shell: Variables): Variables {
  const path = join(root, ".env");
  return {
    ...ALLOCATOR,
    FAIRWAY_HOST: "127.0.0.1",
    FAIRWAY_PORT: "3000",
    FAIRWAY_DATA_DIR: join(root, ".fairway"),
    FAIRWAY_LOG_FORMAT: "text",
    ...COMPILE_CACHE,
    ...(existsSync(path) ? parseEnv(readFileSync(path, "utf8")) : {}),
    ...shell,
  };
}

const FILE = "sqlite:";

/**
 * Returns the variables with which the seed opens a database like its gateway: that of `npm start`, or the one at
 * `url`. The key of an SQLite file is in the file's own folder, whatever `.env` of this checkout contains.
 */
export function seedVariables(root: string, shell: Variables, url: string | undefined): Variables {
  if (url === undefined) return startVariables(root, shell);
  if (!url.startsWith(FILE)) return { ...startVariables(root, shell), FAIRWAY_DATABASE_URL: url };
  const folder = dirname(resolve(root, url.slice(FILE.length)));
  return { ...shell, FAIRWAY_DATABASE_URL: url, FAIRWAY_DATA_DIR: shell["FAIRWAY_DATA_DIR"]?.trim() || folder };
}
