import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the folder of the built console, for the sources and for the bundle; undefined if it was not built. */
export function consoleFolder(): string | undefined {
  const folder = fileURLToPath(
    new URL(import.meta.url.endsWith(".ts") ? "../../../console/dist/" : "../../console/dist/", import.meta.url),
  );
  return existsSync(folder) ? folder : undefined;
}
