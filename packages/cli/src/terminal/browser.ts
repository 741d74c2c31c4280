import { spawn } from "node:child_process";

const OPENERS: Readonly<Record<string, string>> = { darwin: "open", win32: "explorer" };

/** Opens a page in the local browser; callers also print the address, for machines without one. */
export function openPage(url: string, env: Readonly<Record<string, string | undefined>>): void {
  const command = env["BROWSER"] || (OPENERS[process.platform] ?? "xdg-open");
  const child = spawn(command, [url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
