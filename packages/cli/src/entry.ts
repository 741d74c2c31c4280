// Nothing but this file is compiled before the cache of compiled sources is open.
import module from "node:module";
import { resolveCacheFolder } from "./session/folders.ts";

/** The folder is the user's alone: others could write into a shared one what runs here. */
function openCache(): void {
  if (process.env["NODE_COMPILE_CACHE"]) return;
  try {
    // An old Node.js has no such cache; the program then says which one it needs.
    module.enableCompileCache?.(resolveCacheFolder(process.env, "compiled"));
  } catch {
    // A user without a home has no cache, and each start compiles again.
  }
}

openCache();
await import("./main.ts");
