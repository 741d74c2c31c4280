import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";
import { asUser } from "./session.ts";

const HARBOUR = `apiVersion: fairway.dev/v1alpha1
kind: Channel
metadata: { name: harbour }
spec: { type: openai, models: [gpt-4o], key: sk-harbour, priority: 3 }
---
apiVersion: fairway.dev/v1alpha1
kind: Budget
metadata: { name: all-gpt }
spec: { scope: model, subject: gpt-4o, period: month, limit: 500000 }
`;

let opened: OpenConsole;
let page: Page;
let faults: readonly string[];

const text = () => page.getByRole("textbox", { name: "Documents" });
const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
const managed = () => page.getByRole("table", { name: "Documents" });
const planned = (line: string) => page.locator("li").filter({ hasText: line });

async function apply(): Promise<void> {
  await press("Plan");
  await page.getByRole("heading", { name: "What an apply would change" }).waitFor();
  await press("Apply");
  await page.getByRole("alertdialog").getByRole("button", { name: "Apply" }).click();
  await page.getByRole("heading", { name: "What was changed" }).waitFor();
}

beforeAll(async () => {
  opened = await openConsole();
  ({ page, faults } = opened);
});

afterAll(() => opened?.close());

test("documents are planned, applied after a question, and listed with their owner", async () => {
  await page.goto("/document");
  await page.getByRole("heading", { name: "No documents yet" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await text().fill(HARBOUR);
  await page.getByRole("textbox", { name: "Owner" }).fill("git:production");
  expect(await page.getByRole("button", { name: "Apply", exact: true }).isDisabled()).toBe(true);
  await press("Plan");
  await planned("Channel harbour").getByText("Create").waitFor();
  await planned("Budget all-gpt").getByText("Create").waitFor();
  expect(await asUser(page, "GET", "/api/declarative/managed")).toMatchObject({ data: [] });
  await apply();
  await managed().getByRole("link", { name: "harbour" }).waitFor();
  expect(await managed().getByText("Git: production").count()).toBe(2);
  await shoot(page, "documents");
  expect(await axeFindings(page)).toEqual([]);
});

test("a plan of the same documents shows what has drifted since", async () => {
  const { data } = (await asUser(page, "GET", "/api/declarative/managed")) as {
    data: { kind: string; name: string }[];
  };
  expect(data.map(({ name }) => name).toSorted()).toEqual(["all-gpt", "harbour"]);
  await text().fill(HARBOUR.replace("priority: 3", "priority: 5"));
  await press("Plan");
  await planned("Channel harbour").getByText("priority: 3 → 5").waitFor();
  await planned("Budget all-gpt").getByText("Unchanged").waitFor();
});

test("a mistake in the text is named with its line, and nothing is lost", async () => {
  const broken = "kind: [Channel\nspec: {";
  await text().fill(broken);
  await press("Plan");
  await page.getByText(/at line \d/).waitFor();
  expect(await text().inputValue()).toBe(broken);
  await text().fill("kind: Harbour");
  await press("Plan");
  await expect.poll(() => text().getAttribute("aria-invalid")).toBe("true");
});

test("the page is whole in the dark, in Chinese and at 320 pixels", async () => {
  await text().fill("");
  await page.setViewportSize({ width: 320, height: 700 });
  await page.evaluate(() => {
    localStorage.setItem("fairway:language", "zh");
    localStorage.setItem("theme-mode", "dark");
  });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "声明文档" }).waitFor();
  await page.getByText("harbour").first().waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  expect(await axeFindings(page)).toEqual([]);
  await shoot(page, "documents-phone");
});

test("nothing went wrong in the browser", () => {
  expect(faults.filter((fault) => !fault.includes("400"))).toEqual([]);
});
