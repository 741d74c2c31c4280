import { gzipSync } from "node:zlib";
import type { Watched } from "../../packages/console/e2e/browser.ts";

type Page = Watched["page"];

export interface PageFigures {
  readonly scripts: number;
  /** All scripts that the page loads before it is idle, gzip -9. */
  readonly kilobytes: number;
  readonly lcp: number;
  readonly cls: number;
  readonly inp: number;
}

interface Vitals {
  lcp: number;
  cls: number;
  inp: number;
}

interface Shift extends PerformanceEntry {
  readonly value: number;
  readonly hadRecentInput: boolean;
}

interface Interaction extends PerformanceEntry {
  readonly interactionId: number;
}

/** Runs in the page before its scripts: collects the browser's measurements, and leaves out what loads when idle. */
export function watchVitals(): void {
  const vitals: Vitals = { lcp: 0, cls: 0, inp: 0 };
  Object.assign(globalThis, { vitals, requestIdleCallback: () => 0 });
  const observe = (type: string, note: (entry: PerformanceEntry) => void, options: object = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true, ...options });
  observe("largest-contentful-paint", ({ startTime }) => (vitals.lcp = startTime));
  observe("layout-shift", (entry) => {
    const { value, hadRecentInput } = entry as Shift;
    if (!hadRecentInput) vitals.cls += value;
  });
  const note = (entry: PerformanceEntry) => {
    if ((entry as Interaction).interactionId > 0) vitals.inp = Math.max(vitals.inp, entry.duration);
  };
  observe("event", note, { durationThreshold: 16 });
}

const SETTLED_MS = 600;

/** Opens a page with an empty cache, presses some keys and buttons, and reads the browser's measurements. */
export async function measurePage(page: Page, path: string): Promise<PageFigures> {
  await page.goto(path);
  await page.locator("h1").first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
  await page.waitForTimeout(SETTLED_MS);
  const urls = await page.evaluate(() =>
    performance.getEntriesByType("resource").flatMap(({ name }) => (name.endsWith(".js") ? [name] : [])),
  );
  const before = await readVitals(page);
  await interact(page);
  await page.waitForTimeout(SETTLED_MS);
  const { inp } = await readVitals(page);
  return { scripts: urls.length, kilobytes: await weigh(urls), lcp: before.lcp, cls: before.cls, inp };
}

function readVitals(page: Page): Promise<Vitals> {
  return page.evaluate(() => (globalThis as unknown as { vitals: Vitals }).vitals);
}

/** Performs typical first interactions: type into the search, move through rows, sort, open the menu of a row. */
async function interact(page: Page): Promise<void> {
  const search = page.getByRole("searchbox").first();
  if (await search.count()) {
    await search.click();
    await page.keyboard.type("a");
    await page.keyboard.press("Backspace");
  }
  const rows = page.locator(".grid-row");
  if (await rows.count()) {
    await rows.first().focus();
    for (const key of ["ArrowDown", "ArrowDown", "End", "Home"]) await page.keyboard.press(key);
  }
  const sort = page.locator(".grid-sort").first();
  if (await sort.count()) await sort.click();
  await page.keyboard.press("Tab");
}

export async function weigh(urls: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    urls.map(async (url) => gzipSync(await (await fetch(url)).bytes(), { level: 9 }).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

const FRAMES = 300;
const STEP = 400;

export interface ScrollFigures {
  readonly p95: number;
  readonly longest: number;
  /** Milliseconds of CPU that the page's thread needs for a frame, independent of other programs on the machine. */
  readonly cpu: number;
  /** Megabytes of the JavaScript heap. */
  readonly heap: number;
}

/** Scrolls a long list by 400 pixels per frame. */
export async function measureScroll(page: Page): Promise<ScrollFigures> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  };
  const before = await busy();
  const frames = await page.evaluate(
    ([count, step]) =>
      new Promise<number[]>((resolve) => {
        const times: number[] = [];
        let last = performance.now();
        const next = () => {
          const now = performance.now();
          times.push(now - last);
          last = now;
          if (times.length >= count) return resolve(times);
          scrollBy(0, step);
          requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
      }),
    [FRAMES, STEP] as const,
  );
  const cpu = (((await busy()) - before) * 1_000) / FRAMES;
  const sorted = frames.toSorted((one, other) => one - other);
  const heap = await page.evaluate(
    () => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
  );
  return { p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0, longest: sorted.at(-1) ?? 0, cpu, heap: heap / 2 ** 20 };
}
