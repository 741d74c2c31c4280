// This is the only file that is compiled before the compile cache is open.
import module from "node:module";
import { resolveCacheFolder } from "./session/folders.ts";

/** Only the user may access the folder: others could put code into a shared one. */
function openCache(): void {
  if (process.env["NODE_COMPILE_CACHE"]) return;
  try {
    // An old Node.js has no such cache; the program then reports the required version.
    module.enableCompileCache?.(resolveCacheFolder(process.env, "compiled"));
  } catch {
    // A user without a home has no cache, and each start compiles again.
  }
}

openCache();
await import("./main.ts");
