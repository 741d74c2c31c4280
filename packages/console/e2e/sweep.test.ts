import { createChannel, createToken, ROOT_PASSWORD, signIn as apiSignIn, type Session } from "@fairway/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, openPage, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { beyond, cramped, cutLabels, listFonts, latinTexts, overflowAt, settled, visit } from "./page-checks.ts";
import { insertRows } from "./rows.ts";
import { signIn } from "./session.ts";

// Every page, empty, full and failing: in light and dark mode, in English and Chinese, at all widths. One browser, one
// page.

const ADMIN = { username: "harbour", password: "master-1906", display_name: "Harbour" };
const USER = { username: "grace", password: "hopper-1906", display_name: "Grace" };

const LISTS = [
  "/",
  "/channel",
  "/token",
  "/log",
  "/user",
  "/team",
  "/redemption",
  "/budget",
  "/audit",
  "/document",
  "/event",
  "/webhook",
  "/operator-webhook",
  "/identity-provider",
  "/service-account",
];
const OTHERS = [
  "/my-budget",
  "/pricing",
  "/detail",
  "/compare",
  "/topup",
  "/playground",
  "/chat",
  "/midjourney",
  "/task",
  "/batch",
  "/file",
  "/cache",
  "/report",
  "/setup",
  "/about",
];
const SETTINGS = [
  "/setting",
  "/setting?tab=prices",
  "/setting?tab=operation&section=general",
  "/setting?tab=operation&section=groups",
  "/setting?tab=system&section=mail",
  "/setting?tab=other",
];
const ROWS = ["/channel/1", "/token/1", "/user/1", "/team/1", "/team/1/report", "/budget/1"];
const FORMS = [
  "/channel/add",
  "/channel/import",
  "/channel/edit/1",
  "/token/add",
  "/redemption/add",
  "/user/edit/2",
  "/team/add",
  "/budget/add",
  "/webhook/add",
  "/identity-provider/add",
];
const PAGES = [...LISTS, ...OTHERS, ...SETTINGS, "/no-such-page"];
const VISITORS = ["/", "/login", "/register", "/reset", "/pricing", "/about"];

const WIDTHS = [320, 600, 1024] as const;
/** A sweep opens dozens of pages, and a busy machine is slow for each. */
const SWEEP_MS = 400_000;
const USUAL = { width: 1440, height: 900 };

/** Names of people, rows, manufacturers and protocols, and terms that Chinese texts leave untranslated. */
const KNOWN = new RegExp(
  [
    "Slack|Discord|Lark|Alertmanager|Fairway|OpenAI|Anthropic|Claude( Code)?|Google|Gemini( CLI)?|Codex|Cursor|Continue|curl|Azure|Midjourney|Suno",
    "Microsoft Entra|Entra|Okta|Keycloak|OpenID( Connect)?|SCIM|PEM|RSA|P-256|Ed25519|xms_edov|externalId|amr|acr|openid|roles|groups|(\\w+\\.)+example|/\\.well-known/openid-configuration",
    "LiteLLM|Bifrost|new-api|one-api|one-hub|mysqldump|mariadb-dump|pg_dump --format=plain|gzip",
    "GitHub|Telegram|WeChat|LinuxDO|OIDC|Turnstile|Passkey|Redis|SQLite|MariaDB|Kubernetes|NextChat|AMA|OpenCat",
    "[Tt]oken|ID|API|JSON|YAML|URL|HTTPS?|RPM|TPM|UTC|IP|SMTP|SSL|TLS|CSV|HTML|AI|PIN|/mj/submit/imagine|\\{\\w+\\}|Markdown|Webhook|Worker|Top|Seed|Ctrl|Esc",
    "Parquet|X-Fairway-(Tags|End-User)|app=shop|metadata|safety_identifier|\\buser\\b",
    "root|Root User|harbour|grace|quay|broken|shop|spring|default|auto|vip|svip|vm-\\w+|console|kling|suno|text2video",
    "gpt-[\\w.-]+|claude-[\\w.-]+|status-\\d+|v\\d[\\w.+-]*|sk-\\S*|https?:\\S+|p50|p95|ms|min|TypeScript|Python",
    "\\bread\\b|\\bwrite\\b|[KMGT]iB|fairway (batch|file) [a-z]+ \\w+\\.(jsonl|pdf)",
    "https|Mozilla/.*|o\\d-[\\w-]+|omni-[\\w-]+|Etc/GMT\\S*",
    "[A-Z]\\w*(Enabled|Price|Link\\d?|Ratio|Groups?|Url|Server|Account|Port|From|Address)|fairway\\.dev|git:production",
  ].join("|"),
  "g",
);

let opened: OpenConsole;
let gateway: OpenConsole["gateway"];
let upstream: OpenConsole["upstream"];
let browser: OpenConsole["browser"];
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  opened = await openConsole();
  ({ gateway, upstream, browser, page, faults } = opened);
});

afterAll(() => opened?.close());

/** Creates rows of every kind, in the usual way. */
async function fill(root: Session): Promise<void> {
  await createChannel(root, {
    name: "quay",
    base_url: upstream.url,
    models: "gpt-4o,gpt-4o-mini",
    group: "default,vip",
  });
  await createChannel(root, { name: "broken", base_url: upstream.url, models: "status-500" });
  await root.must("PUT", "/api/option/", { key: "ModelRatio", value: '{"gpt-4o":1.25,"status-500":1}' });
  const key = await createToken(root, { name: "shop" });
  for (const user of [USER, ADMIN]) await root.must("POST", "/api/user/", user);
  const found = await root.must<{ items?: { id: number }[] }>("GET", "/api/user/search?keyword=harbour");
  const [{ id } = { id: 0 }] = Array.isArray(found) ? (found as { id: number }[]) : (found.items ?? []);
  await root.must("POST", "/api/user/manage", { id, action: "promote" });
  await root.must("POST", "/api/team/", { name: "harbour" });
  await root.must("POST", "/api/redemption/", { name: "spring", quota: 500_000, count: 3 });
  for (const [scope, subject] of [
    ["group", "default"],
    ["channel", "1"],
  ])
    await root.must("POST", "/api/budget/", { scope, subject, period: "month", quota_limit: 50_000_000 });
  for (const model of ["gpt-4o", "gpt-4o", "status-500"])
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Ahoy" }] }),
    }).then((answer) => answer.text());
  addWork();
}

/** Adds a drawing and a task; their channels never answer, so they stay as they are. */
function addWork(): void {
  const now = Math.floor(Date.now() / 1000);
  const common = { user_id: 1, channel_id: 1, quota: 50_000, fail_reason: "", created_at: now, properties: "" };
  const times = { submit_time: now - 90, start_time: now - 80, finish_time: now - 30 };
  const file = opened.file;
  insertRows(file, "midjourneys", [
    {
      ...common,
      submit_time: times.submit_time * 1_000,
      start_time: times.start_time * 1_000,
      finish_time: times.finish_time * 1_000,
      code: 1,
      action: "IMAGINE",
      mj_id: "1731000000000001",
      prompt: "灯塔",
      prompt_en: "",
      description: "",
      state: "",
      image_url: "",
      status: "SUCCESS",
      progress: "100%",
      buttons: "",
      request_id: "1",
    },
  ]);
  insertRows(file, "tasks", [
    {
      ...common,
      ...times,
      updated_at: now,
      task_id: "clip-1",
      platform: "kling",
      action: "text2video",
      status: "FAILURE",
      fail_reason: "没有余额",
      progress: "100%",
      data: "",
      request_id: "2",
    },
  ]);
}

async function speak(language: "en" | "zh"): Promise<void> {
  await page.evaluate((name) => localStorage.setItem("fairway:language", name), language);
  await page.reload();
  await settled(page);
}

/** Opens each page and collects its problems, so that one run reports all of them. */
async function sweep(paths: readonly string[], look: (path: string) => Promise<readonly string[]>): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    await visit(page, path);
    found.push(...(await look(path)).map((finding) => `${path}: ${finding}`));
  }
  return found;
}

/** Dark mode differs only in contrast; everything else was checked in light mode. */
async function axeInBoth(): Promise<string[]> {
  const light = await axeFindings(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await axeFindings(page, "color-contrast");
  await page.emulateMedia({ colorScheme: "light" });
  return [...light, ...dark.map((finding) => `dark ${finding}`)];
}

async function tooWide(): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    const pixels = await overflowAt(page, width);
    if (pixels > 0) found.push(`${pixels} px wider than ${width}: ${(await beyond(page)).join("; ")}`);
    if (width === 320) found.push(...(await cramped(page)).map((finding) => `at ${width}: ${finding}`));
    if (width === 1024) found.push(...(await cutLabels(page)).map((label) => `cut at ${width}: ${label}`));
  }
  await page.setViewportSize(USUAL);
  return [...found, ...(await cutLabels(page)).map((label) => `cut: ${label}`)];
}

const inChinese = async () => [
  ...(await latinTexts(page, KNOWN)).map((text) => `not Chinese: ${text}`),
  ...(await tooWide()),
];

test(
  "empty pages are accessible in light and dark, fit every width, and say what belongs there",
  async () => {
    expect(await sweep(PAGES, async () => [...(await axeInBoth()), ...(await tooWide())])).toEqual([]);
  },
  SWEEP_MS,
);

test(
  "empty pages are Chinese where Chinese was chosen, in a font that has its signs",
  async () => {
    await speak("zh");
    expect(await sweep(PAGES, inChinese)).toEqual([]);
    await visit(page, "/token");
    expect((await listFonts(page, "h1")).join()).toMatch(/CJK|Han/);
    await speak("en");
  },
  SWEEP_MS,
);

test(
  "full pages and forms are accessible in light and dark, and fit every width",
  async () => {
    await fill(await apiSignIn(gateway.url, "root", ROOT_PASSWORD));
    await page.reload();
    const paths = [...LISTS, ...OTHERS, ...ROWS, ...FORMS];
    expect(await sweep(paths, async () => [...(await axeInBoth()), ...(await tooWide())])).toEqual([]);
  },
  SWEEP_MS,
);

test(
  "full pages and forms are Chinese and accessible",
  async () => {
    await speak("zh");
    const paths = [...LISTS, ...OTHERS, ...ROWS, ...FORMS];
    expect(await sweep(paths, async () => [...(await axeFindings(page)), ...(await inChinese())])).toEqual([]);
    await shoot(page, "sweep-zh");
    await speak("en");
  },
  SWEEP_MS,
);

test(
  "pages whose calls fail are accessible, fit a phone, and offer another try",
  async () => {
    await page.route(/\/api\/(?!status$|user\/self$|user\/self\/prefs)/, (route) =>
      route.fulfill({ status: 500, json: { success: false, message: "The tide is out." } }),
    );
    await page.goto("/about");
    const paths = [...LISTS, ...OTHERS, ...ROWS].filter((path) => !["/chat", "/setup"].includes(path));
    const found = await sweep(paths, async () => [...(await axeInBoth()), ...(await tooWide())]);
    await page.unrouteAll({ behavior: "wait" });
    expect(found).toEqual([]);
  },
  SWEEP_MS,
);

test.each([
  ["visitor", undefined, VISITORS],
  ["user", USER, ["/", "/log", "/topup", "/setting"]],
  ["operator", ADMIN, ["/", "/channel", "/log", "/user"]],
] as const)("a %s is offered what may be opened, on every width", async (_who, account, paths) => {
  const { page: own } = await openPage(browser, gateway.url);
  if (account) await signIn(own, account.username, account.password);
  else await own.goto("/");
  const nav = own.getByRole("navigation", { name: "Main navigation" }).getByRole("link");
  await nav.first().waitFor();
  const links = await nav.evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  expect(links.length).toBeGreaterThan(1);
  for (const path of new Set([...links, ...paths])) {
    await visit(own, path);
    expect(new URL(own.url()).pathname, path).toBe(path);
    expect(await own.getByRole("heading", { name: "No access" }).count(), path).toBe(0);
    for (const width of [...WIDTHS, USUAL.width]) {
      const pixels = await overflowAt(own, width);
      if (pixels > 0) expect.fail(`${path} is ${pixels} px wider than ${width}: ${(await beyond(own)).join("; ")}`);
    }
  }
  await own.context().close();
});

test("the tools of the log are one row on a phone", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await visit(page, "/log");
  const tops = await page.getByRole("search").evaluate((bar) => {
    const shown = [...bar.querySelectorAll("button, input, select")].filter((one) => one.getClientRects().length > 0);
    return shown.map((one) => one.getBoundingClientRect()).map(({ top, height }) => Math.round(top + height / 2));
  });
  expect(new Set(tops).size, tops.join()).toBe(1);
  await page.setViewportSize(USUAL);
});

test("nothing went wrong behind the pages", () => {
  expect(faults.filter((fault) => !/status of 500/.test(fault))).toEqual([]);
});
