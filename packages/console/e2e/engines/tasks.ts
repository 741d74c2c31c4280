import { afterAll, beforeAll, expect, onTestFailed, test } from "vitest";
import { ROOT_PASSWORD } from "@fairway/testkit";
import { openEngine, type Engine, type OpenEngine } from "./engines.ts";
import { Screen } from "./screen.ts";
import { KEYS } from "./tasks/keys.ts";
import { OPERATING } from "./tasks/operate.ts";
import type { Task } from "./tasks/task.ts";
import { WATCHING } from "./tasks/watch.ts";
import { openWorld, type World } from "./world.ts";

/** The daily work in the order of its table; the second factor is last, because every sign-in requires it then. */
const TASKS: readonly Task[] = [
  WATCHING.compare,
  WATCHING.report,
  KEYS.limitedKey,
  KEYS.leakedKey,
  OPERATING.pause,
  OPERATING.price,
  OPERATING.imported,
  WATCHING.runsOut,
  WATCHING.charge,
  WATCHING.failure,
  KEYS.channelKey,
  WATCHING.history,
  KEYS.secondFactor,
];

const PAGES = [
  "/",
  "/channel",
  "/channel/1",
  "/channel/edit/1",
  "/token",
  "/token/add",
  "/log",
  "/compare",
  "/detail",
  "/report",
  "/user",
  "/budget",
  "/audit",
  "/event",
  "/topup",
  "/playground",
  "/pricing",
  "/setting",
  "/setting?tab=prices",
];

/** A busy machine is slow for each of the pages. */
const SWEEP_MS = 400_000;

/** Returns what a reader would report of a page: no title, too wide, a hint that is cut, a crash. */
const FINDINGS = `
  const found = [];
  const title = document.querySelector("h1");
  if (!title) found.push("no title");
  for (const fault of ["This page ran into a fault", "This page could not be loaded"])
    if (document.body.innerText.includes(fault)) found.push(fault);
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) found.push(wide + " px too wide");
  const pen = document.createElement("canvas").getContext("2d");
  for (const field of document.querySelectorAll("main input[placeholder]")) {
    if (field.value !== "" || field.getClientRects().length === 0) continue;
    const style = getComputedStyle(field);
    pen.font = [style.fontStyle, style.fontWeight, style.fontSize, style.fontFamily].join(" ");
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (pen.measureText(field.placeholder).width > room + 1) found.push("cut: " + field.placeholder);
  }
  return found;
`;
const IS_SETTLED = `return document.querySelector("h1") !== null &&
  document.querySelector('[aria-busy="true"], .grid-bone') === null`;

/** Registers the tasks and the pages for one engine, with a gateway of its own. */
export function testEngine(engine: Engine): void {
  let world: World | undefined;
  let opened: OpenEngine | undefined;
  let screen: Screen | undefined;
  beforeAll(async () => {
    world = await openWorld();
    opened = await openEngine(engine);
    screen = new Screen(opened.driver, world.url);
  });
  afterAll(async () => {
    await opened?.close();
    await world?.close();
  });

  async function visit(name: string, work: (screen: Screen, world: World) => Promise<void>): Promise<void> {
    if (!screen || !world) throw new Error(`${engine} did not start`);
    const shown = screen;
    onTestFailed(() => shown.shoot(`${engine}-${name}`));
    await screen.signIn("root", ROOT_PASSWORD);
    await work(screen, world);
  }

  test(
    `${engine}: every page is shown, fits, and cuts no hint`,
    () =>
      visit("pages", async (shown) => {
        const found: string[] = [];
        for (const path of PAGES) {
          await shown.open(path);
          await shown.until(path, () => shown.run<boolean>(IS_SETTLED));
          found.push(...(await shown.run<string[]>(FINDINGS)).map((finding) => `${path}: ${finding}`));
        }
        expect(found).toEqual([]);
      }),
    SWEEP_MS,
  );

  test.each(TASKS)(`${engine}: $title`, (task) => visit(task.title, (shown, of) => task.run(shown, of)));
}
