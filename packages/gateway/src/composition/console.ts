import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the built console, for the sources and for the bundle. */
const FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../console/dist/" : "../../console/dist/", import.meta.url),
);

/** Returns the folder of the console; undefined if it was not built, and no build writes its progress. */
export function findConsoleFolder(progress: string | undefined): string | undefined {
  return progress !== undefined || existsSync(FOLDER) ? FOLDER : undefined;
}
