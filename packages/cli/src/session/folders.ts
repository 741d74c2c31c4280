import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where this program keeps what it can make again; only the user reads it. */
export function resolveCacheFolder(env: Environment, ...names: readonly string[]): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "fairway", ...names);
}
