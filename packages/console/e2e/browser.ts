import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";

const ARGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Screenshots of the last run, for people to look at. */
const SHOTS = join(import.meta.dirname, "../../../node_modules/.cache/console-shots");

/** Half as long as the readable form: each page parses it. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** The shell has the same engine and draws no window: a page takes a quarter less of the processor. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

export function openBrowser(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? PROGRAMS.find(existsSync) ?? "chromium";
  return chromium.launch({ executablePath, args: ARGS });
}

export interface Watched {
  readonly page: Page;
  /** Errors of scripts, of the console and of the content security policy, in order of occurrence. */
  readonly faults: readonly string[];
}

/** Opens a page in a context of its own that records everything that goes wrong in it. */
export async function openPage(browser: Browser, baseURL: string): Promise<Watched> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    colorScheme: "light",
    // Every click waits for the end of an animation otherwise.
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  return { page, faults };
}

export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), animations: "disabled" });
}

interface AxeHolder {
  readonly axe: { run(where: Document, options: object): Promise<unknown> };
}

interface AxeResult {
  readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary?: string }[] }[];
}

/**
 * Returns violations of WCAG 2.2 AA on the page, or of one rule, one line per element. A violation during a colour
 * transition disappears in the second check.
 */
export async function axeFindings(page: Page, rule?: string): Promise<string[]> {
  const found = await findingsNow(page, rule);
  return found.length === 0 ? found : findingsNow(page, rule);
}

async function findingsNow(page: Page, rule?: string): Promise<string[]> {
  // Opening animations blend colours, so contrast is checked after them.
  await page.evaluate(() => {
    const passing = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    return Promise.all(passing.map((animation) => animation.finished.catch(() => undefined)));
  });
  // Evaluated as text and not as a script element: the page's policy does not apply to the debugger's evaluation.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const result: unknown = await page.evaluate(
    (runOnly) =>
      (globalThis as unknown as AxeHolder).axe.run(document, { runOnly, resultTypes: ["violations"], preload: false }),
    rule === undefined ? { type: "tag", values: RULES } : { type: "rule", values: [rule] },
  );
  const { violations } = result as AxeResult;
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
}
