import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setModelRatios,
  signIn as apiSignIn,
  type Session,
} from "@fairway/testkit";
import type { LogPage, LogRow } from "@fairway/wire";
import { expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { useVisits } from "./clicks.ts";
import { totp } from "./totp.ts";

// The reason of a charge and a second factor, each from a cold sign-in, with the clicks that it may take.

let root: Session;

const visits = useVisits(async (opened) => {
  root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  await createChannel(root, { name: "main", base_url: opened.upstream.url, models: "gpt-4o" });
  await setModelRatios(root, { "gpt-4o": 3 });
});

/** Makes one call and returns its row of the log. */
async function makeCall(): Promise<LogRow> {
  const key = await createToken(root, { unlimited_quota: true });
  const answer = await fetch(`${visits.opened.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "What did this cost?" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  let row: LogRow | undefined;
  await expect
    .poll(async () => {
      const { items } = await root.must<LogPage>("GET", "/api/log/?type=2&p=1&page_size=1");
      row = items[0];
      return row?.model_name;
    })
    .toBe("gpt-4o");
  if (!row) throw new Error("the call has no row");
  return row;
}

const readDollars = (text: string) => Number(text.replace(/[^\d.-]/g, ""));

test("why was this charged: three clicks, and the lines add up to the total", async () => {
  const row = await makeCall();
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Log", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "gpt-4o" }).first().click();
  await page.getByRole("heading", { name: "Why this price" }).waitFor();
  const table = page.locator(".log-charge");
  const total = readDollars(await table.getByTestId("charge-total").innerText());
  expect(total).toBeCloseTo(row.quota / 500_000, 6);
  const lines = await table.locator("tr:not(.log-charge-total) td.end").allInnerTexts();
  const sum = lines.reduce((added, text) => added + readDollars(text), 0);
  // Each line is rounded for itself.
  expect(Math.abs(sum - total)).toBeLessThanOrEqual(0.000001 * lines.length);
  await shoot(page, "daily-charge");
  expect(await axeFindings(page)).toEqual([]);
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(3);
});

test("a second factor is added: five clicks", async () => {
  const { page } = visits.visitor;
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  const card = page.getByRole("group", { name: "Two-factor sign-in" });
  await card.getByRole("button", { name: "Set up" }).click();
  const secret = (await card.getByTestId("totp-secret").textContent()) ?? "";
  await card.getByLabel("Code", { exact: true }).fill(totp(secret));
  await card.getByRole("button", { name: "Switch on" }).click();
  await card.getByTestId("recovery-code").first().waitFor();
  await shoot(page, "daily-second-factor");
  expect(await axeFindings(page)).toEqual([]);
  await card.getByRole("button", { name: "I have saved them" }).click();
  await card.getByText("On", { exact: true }).waitFor();
  expect(await visits.visitor.countClicks()).toBeLessThanOrEqual(5);
});
