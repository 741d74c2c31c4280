import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ALLOCATOR } from "./memory.ts";
import { COMPILE_CACHE } from "./process.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Variables of the gateway that `npm start` runs: those of the shell win over the file `.env`, which wins over defaults. */
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
