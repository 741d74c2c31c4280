// The pages of the console that README and docs show.
import type { Browser, Page } from "playwright-core";
import type { SampleGateway } from "./sample.ts";

export interface Picture {
  /** File in docs/pictures. */
  readonly name: string;
  readonly png: Buffer;
}

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly scheme?: "dark";
  readonly width?: number;
  readonly height?: number;
  /** Runs once the page is idle. */
  prepare?(page: Page): Promise<void>;
}

const SHOTS: readonly Shot[] = [
  { name: "overview.png", path: "/" },
  { name: "overview-dark.png", path: "/", scheme: "dark" },
  { name: "log.png", path: "/log", prepare: openFirstRow },
  { name: "channels.png", path: "/channel" },
  { name: "overview-phone.png", path: "/", width: 390, height: 844 },
];
/** Charts are drawn once their numbers have arrived. */
const REST_MS = 1_500;

export async function consolePictures(browser: Browser, gateway: SampleGateway): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const { name, path, scheme = "light", width = 1280, height = 800, prepare } of SHOTS) {
    const context = await browser.newContext({
      baseURL: gateway.url,
      viewport: { width, height },
      colorScheme: scheme,
      locale: "en-US",
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    await signIn(page, gateway);
    await page.goto(path);
    await rest(page);
    await prepare?.(page);
    pictures.push({ name, png: await page.screenshot({ animations: "disabled" }) });
    await context.close();
  }
  return pictures;
}

async function signIn(page: Page, { password }: SampleGateway): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Username").fill("root");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname !== "/login");
}

/** Opens the newest call that moved to another channel. */
async function openFirstRow(page: Page): Promise<void> {
  await page.locator("tbody tr").filter({ hasText: "↻" }).first().click();
  await rest(page);
}

async function rest(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(REST_MS);
}
