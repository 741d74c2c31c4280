// `fairway ui` in a pseudo-terminal, drawn by xterm.js in the browser: a walk from a channel to its failed calls.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { openTerminal } from "../../packages/cli/test/terminal.ts";
import { signIn } from "../../packages/cli/test/rig.ts";
import { ROOT } from "../bootstrap.mjs";
import { animate, type Frame } from "./apng.ts";
import type { Picture } from "./console.ts";
import type { SampleGateway } from "./sample.ts";

const [COLUMNS, ROWS] = [100, 24];
const FRAME_MS = 1_800;
const DRAWN_MS = 1_200;
/** Keys, and the expected screen after them. */
const WALK: readonly (readonly [keys: string, shows: string | RegExp])[] = [
  ["", /> +\d+ /],
  ["l", "failing calls"],
  ["\r", /THEN/],
  ["\u001B", "failing calls"],
  ["\u001B", "channels"],
  [":tokens\r", "tokens"],
];

export async function terminalPicture(browser: Browser, { url }: SampleGateway): Promise<Picture> {
  const home = mkdtempSync(join(tmpdir(), "fairway-pictures-cli-"));
  const env = { FAIRWAY_CONFIG: join(home, "credentials.json") };
  const page = await browser.newPage({ viewport: { width: 920, height: 480 } });
  try {
    await signIn(url, env);
    await openScreen(page);
    const terminal = openTerminal(["ui"], { ...env, COLORTERM: "truecolor" }, COLUMNS);
    const frames: Frame[] = [];
    let drawn = 0;
    for (const [keys, shows] of WALK) {
      terminal.type(keys);
      await terminal.sees(shows);
      await page.waitForTimeout(DRAWN_MS);
      const news = terminal.raw.slice(drawn);
      drawn = terminal.raw.length;
      await page.evaluate((text) => new Promise<void>((done) => terminalInPage.write(text, done)), news);
      frames.push({ png: await page.locator("#screen").screenshot(), ms: FRAME_MS });
    }
    terminal.type("\u0003");
    await terminal.exited;
    return { name: "fairway-ui.png", png: animate(frames) };
  } finally {
    await page.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** In the page: the declarations of xterm.js, and the terminal that `openScreen` creates with them. */
declare const Terminal: new (settings: object) => Screen & { open(parent: Element | null): void };
declare const terminalInPage: Screen;

interface Screen {
  write(text: string, done: () => void): void;
}

async function openScreen(page: Page): Promise<void> {
  const folder = join(ROOT, "node_modules/@xterm/xterm");
  await page.setContent('<body style="margin:0;background:#111"><div id="screen" style="padding:8px"></div></body>');
  await page.addStyleTag({ content: readFileSync(join(folder, "css/xterm.css"), "utf8") });
  await page.addScriptTag({ content: readFileSync(join(folder, "lib/xterm.js"), "utf8") });
  await page.evaluate(
    ([cols, rows]) => {
      const made = new Terminal({ cols, rows, fontSize: 14, theme: { background: "#111111" } });
      made.open(document.querySelector("#screen"));
      Object.assign(globalThis, { terminalInPage: made });
    },
    [COLUMNS, ROWS],
  );
}
