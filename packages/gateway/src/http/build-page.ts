import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";

const RELOAD_SECONDS = 2;
const UNKNOWN = "The build starts.";

/** Answers 503 with a page that shows the progress of the console's build, and reloads until the console is there. */
export async function sendBuildPage(response: ServerResponse, progressFile: string, policy: string): Promise<void> {
  const progress = await readProgress(progressFile);
  response.writeHead(503, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy,
    "Cache-Control": "no-store",
    "Retry-After": String(RELOAD_SECONDS),
  });
  response.end(renderPage(progress));
}

async function readProgress(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim() || UNKNOWN;
  } catch (error) {
    // `npm start` has not written it yet.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return UNKNOWN;
    throw error;
  }
}

function renderPage(progress: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="${RELOAD_SECONDS}">
<title>Fairway: the console is being built</title>
<h1>The console is being built</h1>
<p>${escapeText(progress)}</p>
<p>The gateway already answers requests, and this page opens the console when it is ready.</p>
</html>
`;
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
