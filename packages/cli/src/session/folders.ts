import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a folder for files that this program can recreate; only the user can read it. */
export function resolveCacheFolder(env: Environment, ...names: readonly string[]): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "fairway", ...names);
}
