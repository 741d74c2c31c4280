import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The built console, seen from the sources and from the bundle; undefined when it was not built. */
export function consoleFolder(): string | undefined {
  const folder = fileURLToPath(
    new URL(import.meta.url.endsWith(".ts") ? "../../../console/dist/" : "../../console/dist/", import.meta.url),
  );
  return existsSync(folder) ? folder : undefined;
}
