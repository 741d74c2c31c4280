import { Key } from "selenium-webdriver";
import { expect } from "vitest";
import type { Screen } from "../screen.ts";
import { SPENT } from "../world.ts";
import type { Task } from "./task.ts";

const COMPARED = `return [...document.querySelectorAll(".compare-table tbody .link")].map((one) => one.innerText)`;
/** Keeps the files that a page saves: engines differ in where they put them, and in whether they ask. */
const KEEP_FILES = `
  window.savedFiles = [];
  const make = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (file) => { file.text().then((text) => window.savedFiles.push(text)); return make(file); };
`;

/** Waits until these stand in this order; calls of other tasks may add further ones. */
async function seeOrder(screen: Screen, names: readonly string[]): Promise<void> {
  await screen.until(`the order ${names.join(", ")}`, async () => {
    const shown = await screen.run<string[]>(COMPARED);
    return shown.filter((name) => names.includes(name)).join() === names.join();
  });
}

const compare: Task = {
  title: "which channel or model is slow or failing, and since when",
  async run(screen) {
    await screen.click("link", "Compare");
    await screen.seeRole("heading", "Latency p95 over time");
    await seeOrder(screen, ["slow", "broken", "quick", "brand new"]);
    await screen.click("button", "Errors");
    await seeOrder(screen, ["broken", "slow", "quick", "brand new"]);
    await screen.choose("Side by side", "Models");
    await seeOrder(screen, ["gpt-broken", "gpt-slow", "gpt-quick"]);
    await screen.click("button", "First token p95");
    await screen.seeRole("heading", "First token p95 over time");
    await screen.run(`document.querySelector("[role=slider]").focus()`);
    await screen.press(Key.END);
    await screen.until("the value under the cursor", async () =>
      /gpt-slow 3\.\d+ s/.test(
        await screen.run<string>(`return document.querySelector("[role=slider]").getAttribute("aria-valuetext")`),
      ),
    );
  },
};

/** Returns the spend by model of a file with a row for each. */
function readSpend(text: string): Record<string, number> {
  const [head = "", ...lines] = text.replace("\uFEFF", "").trim().split(/\r?\n/);
  const columns = head.split(",");
  const rows = lines.map((line) => line.split(","));
  return Object.fromEntries(
    rows.map((row) => [row[columns.indexOf("model")] ?? "", Number(row[columns.indexOf("quota")])]),
  );
}

const report: Task = {
  title: "what a group spent by model this week, as a file",
  async run(screen) {
    await screen.click("link", "Reports");
    await screen.fill("searchbox", "Group", "research");
    await screen.choose("Time range", "Last 7 days");
    await screen.choose("Rows for each", "Whole period");
    await screen.until("two rows", async () => {
      const count = await screen.run<number>(
        `return document.querySelectorAll("[aria-label='Rows of the report'] tbody tr").length`,
      );
      return count === 2;
    });
    await screen.run(KEEP_FILES);
    await screen.click("button", "Download");
    await screen.click("menuitem", "CSV, for spreadsheets");
    let files: readonly string[] = [];
    await screen.until("the file", async () => {
      files = await screen.run<string[]>("return window.savedFiles");
      return files.length > 0;
    });
    expect(readSpend(files[0] ?? "")).toEqual(SPENT);
  },
};

const runsOut: Task = {
  title: "is anything about to run out",
  async run(screen) {
    await screen.click("link", "Overview");
    const panel = screen.part("section", "Runs out soon");
    await panel.see("in 2 days at this rate");
    await panel.seeRole("link", "slow");
  },
};

const charge: Task = {
  title: "why this was charged",
  async run(screen, world) {
    await world.call("gpt-4o");
    await screen.click("link", "Log");
    await screen.row("gpt-4o").clickHere();
    await screen.seeRole("heading", "Why this price");
    const [total, lines] = await screen.run<[string, string[]]>(`return [
      document.querySelector("[data-testid=charge-total]").innerText,
      [...document.querySelectorAll(".log-charge tr:not(.log-charge-total) td.end")].map((one) => one.innerText),
    ]`);
    const dollars = (text: string) => Number(text.replace(/[^\d.-]/g, ""));
    const sum = lines.reduce((added, text) => added + dollars(text), 0);
    expect(dollars(total)).toBeGreaterThan(0);
    expect(Math.abs(sum - dollars(total))).toBeLessThanOrEqual(0.000001 * lines.length);
  },
};

const failure: Task = {
  title: "why this call failed, and who else",
  async run(screen) {
    await screen.click("link", "Log");
    await screen.row("gpt-broken").clickHere();
    await screen.see("2 more calls of 2 users failed with this code at this channel within five minutes.");
    await screen.click("link", "Who else?");
    await screen.until("three calls", async () => {
      const rows = await screen.run<string[]>(
        `return [...document.querySelectorAll("tbody tr")].map((one) => one.innerText)`,
      );
      return rows.filter((text) => text.includes("gpt-broken")).length === 3;
    });
  },
};

const history: Task = {
  title: "who changed this",
  async run(screen) {
    await screen.click("link", "Channel");
    await screen.click("button", "Actions for quick");
    await screen.click("menuitem", "History");
    await screen.part(".audit-table", "priority").see("7");
  },
};

export const WATCHING = { compare, report, runsOut, charge, failure, history };
