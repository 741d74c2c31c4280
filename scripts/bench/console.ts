import { parseArgs } from "node:util";
import { ROOT_PASSWORD, startGateway, type GatewayProcess } from "../../packages/testkit/src/gateway.ts";
import { openBrowser, type Watched } from "../../packages/console/e2e/browser.ts";
import { asUser, signIn } from "../../packages/console/e2e/session.ts";
import { median } from "../../packages/testkit/load/streams/plan.ts";
import { build } from "../build.ts";
import { measurePage, measureScroll, watchVitals, weigh, type PageFigures } from "./console-page.ts";

type Page = Watched["page"];
type Browser = Awaited<ReturnType<typeof openBrowser>>;

const GOALS = { entry: 190, list: 245, scripts: 15, lcp: 800, cls: 0.02, inp: 100, frame: 20 } as const;
const CHANNELS = 60;
const LOG_ROWS = 100_000;
const PAGES = ["/login", "/", "/channel", "/token", "/log", "/user", "/pricing", "/detail", "/playground", "/setting"];

/**
 * `npm run bench -- --console`: the size of the built console and its speed in Chromium on loopback, each page with an
 * empty cache, next to the goals. Prints the medians of `--rounds=3`; `--quick` is a smoke run.
 */
export async function benchConsole(): Promise<void> {
  const flag = { type: "boolean" } as const;
  const options = { console: flag, quick: flag, rounds: { type: "string", default: "3" } } as const;
  const { values } = parseArgs({ options });
  await build(["console"], true);
  const gateway = await startGateway();
  const browser = await openBrowser();
  try {
    const state = await prepare(browser, gateway);
    const rounds = values.quick ? 1 : Number(values.rounds);
    const figures = new Map<string, PageFigures[]>(PAGES.map((path) => [path, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const path of PAGES) figures.get(path)?.push(await freshly(browser, gateway, { path, state }));
    console.log(
      `Entry: ${kilobytes(await weigh(await fetchEntryScripts(gateway)))} kB of scripts (goal ${GOALS.entry}).\n`,
    );
    console.log(formatTable(figures));
    console.log(`\n${await scrolled(browser, gateway, state, values.quick ? 2_000 : LOG_ROWS)}`);
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

type State = Awaited<ReturnType<ReturnType<Page["context"]>["storageState"]>>;

/** Signs in once and fills the lists; the other contexts reuse the session. */
async function prepare(browser: Browser, { url }: GatewayProcess): Promise<State> {
  const context = await browser.newContext({ baseURL: url });
  const page = await context.newPage();
  await signIn(page, "root", ROOT_PASSWORD);
  for (let index = 1; index <= CHANNELS; index += 1) {
    await asUser(page, "POST", "/api/channel/", {
      name: `channel ${index}`,
      type: 1,
      key: `k${index}`,
      models: "gpt-4o",
    });
    await asUser(page, "POST", "/api/token/", { name: `token ${index}`, unlimited_quota: true });
  }
  const state = await context.storageState();
  await context.close();
  return state;
}

async function inContext<T>(browser: Browser, url: string, state: State | undefined, act: (page: Page) => Promise<T>) {
  const viewport = { width: 1280, height: 900 };
  const context = await browser.newContext({ baseURL: url, viewport, ...(state && { storageState: state }) });
  try {
    const page = await context.newPage();
    await page.addInitScript(watchVitals);
    return await act(page);
  } finally {
    await context.close();
  }
}

function freshly(
  browser: Browser,
  { url }: GatewayProcess,
  visit: { path: string; state: State },
): Promise<PageFigures> {
  const { path, state } = visit;
  return inContext(browser, url, path === "/login" ? undefined : state, (page) => measurePage(page, path));
}

async function fetchEntryScripts({ url }: GatewayProcess): Promise<string[]> {
  const html = await (await fetch(url)).text();
  return [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, path]) => `${url}${path ?? ""}`);
}

/** Measures the log with an answer of far more rows than a page has. */
async function scrolled(browser: Browser, { url }: GatewayProcess, state: State, count: number): Promise<string> {
  const { p95, longest, cpu, heap } = await inContext(browser, url, state, async (page) => {
    await page.route(/\/api\/log\/\?/, (route) =>
      route.fulfill({ json: { success: true, message: "", data: logs(count) } }),
    );
    await page.goto("/log");
    await page.locator(".grid-row").nth(20).waitFor({ timeout: 60_000 });
    return measureScroll(page);
  });
  const text = (value: number) => value.toFixed(1);
  return [
    `Log with ${count.toLocaleString("en")} rows, 400 px a frame: p95 ${text(p95)} ms a frame (goal ${GOALS.frame}),`,
    `the longest ${text(longest)} ms; ${text(cpu)} ms of CPU a frame, heap ${text(heap)} MB.`,
  ].join(" ");
}

function logs(count: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    id: count - index,
    user_id: 1,
    created_at: 1_790_000_000 - index,
    type: 2,
    content: "",
    username: `user${index % 50}`,
    token_name: `token ${index % 90}`,
    model_name: index % 3 === 0 ? "claude-sonnet-4-5-20250929" : "gpt-4o",
    quota: 1_000 + (index % 7_000),
    prompt_tokens: index % 4_000,
    completion_tokens: index % 900,
    use_time: index % 40,
    is_stream: index % 2 === 0,
    channel: index % 60,
    channel_name: `channel ${index % 60}`,
    token_id: 1,
    group: "default",
    ip: "",
    request_id: `r${index}`,
    other: '{"frt":420}',
  }));
  return { items, total: count, page: 1, page_size: count };
}

const kilobytes = (value: number) => value.toFixed(0);

function formatTable(figures: ReadonlyMap<string, readonly PageFigures[]>): string {
  const middle = (rows: readonly PageFigures[], name: keyof PageFigures) => median(rows.map((row) => row[name]));
  const lines = [...figures].map(([path, rows]) => {
    const [scripts, weight] = [middle(rows, "scripts"), middle(rows, "kilobytes")];
    const times = [middle(rows, "lcp").toFixed(0), middle(rows, "cls").toFixed(3), middle(rows, "inp").toFixed(0)];
    return `| \`${path}\` | ${scripts} | ${kilobytes(weight)} | ${times.join(" | ")} |`;
  });
  return [
    "| Page | Script requests | Scripts, gzip kB | LCP, ms | CLS | INP, ms |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...lines,
    `| **goal** | ${GOALS.scripts} | lists ${GOALS.list} | ${GOALS.lcp} | ${GOALS.cls} | ${GOALS.inp} |`,
  ].join("\n");
}
