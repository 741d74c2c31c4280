import { createChannel, ROOT_PASSWORD, signIn as apiSignIn } from "@fairway/testkit";
import { expect, test } from "vitest";
import { axeFindings } from "./browser.ts";
import { useVisits } from "./clicks.ts";

// Channels are chosen by their names wherever a filter takes one.

const visits = useVisits(async (opened) => {
  const root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  for (const name of ["north", "south"])
    await createChannel(root, { name, base_url: opened.upstream.url, models: "gpt-4o" });
});

test.each([
  ["/report?range=90d", "Reports"],
  ["/log?range=30d", "Log"],
  ["/batch", "Batches"],
  ["/task", "Asynchronous task"],
])("a channel is chosen by its name, and shown by it: %s", async (path, title) => {
  const { page } = visits.visitor;
  await page.goto(path);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  const filter = page.getByRole("search").getByRole("combobox", { name: "Channel", exact: true });
  await filter.fill("sou");
  const found = page.getByRole("option", { name: "south #2" });
  await found.waitFor();
  // A part of a name filters nothing yet.
  expect(new URL(page.url()).searchParams.get("channel")).toBeNull();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/[?&]channel=2(&|$)/);
  expect(await filter.inputValue()).toBe("south #2");
  expect(await axeFindings(page)).toEqual([]);
  // An address that a person sends shows the name as well.
  await page.reload();
  await expect.poll(() => filter.inputValue()).toBe("south #2");
  await filter.fill("");
  await page.waitForURL((url) => !url.searchParams.has("channel"));
});
