import { ROOT_PASSWORD, signIn as apiSignIn } from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings, shoot } from "./browser.ts";
import { openVisitor } from "./clicks.ts";
import { openConsole, type OpenConsole } from "./open-console.ts";

let opened: OpenConsole;

beforeAll(async () => {
  opened = await openConsole({ isSignedIn: false });
});

afterAll(() => opened?.close());

const CONFIG = `
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/OPENAI_API_KEY
      region: here
router_settings:
  num_retries: 3
`;

test("the channels of a LiteLLM file are tried and imported: five clicks", async () => {
  const visitor = await openVisitor(opened.browser, opened.gateway.url, { name: "root", password: ROOT_PASSWORD });
  const { page } = visitor;
  await page.getByRole("link", { name: "Channel", exact: true }).click();
  await page.getByRole("button", { name: "All channels…" }).click();
  await page.getByRole("menuitem", { name: "Import…" }).click();
  const dialog = page.getByRole("dialog", { name: "Import channels" });
  expect(await dialog.getByRole("button", { name: "Import", exact: true }).isDisabled()).toBe(true);
  await dialog
    .getByLabel("File")
    .setInputFiles({ name: "litellm.yaml", mimeType: "application/yaml", buffer: Buffer.from(CONFIG) });
  await expect.poll(() => dialog.getByLabel("Configuration").inputValue()).toContain("gpt-4o");
  await dialog.getByLabel("Variables").fill("OPENAI_API_KEY=sk-of-the-import");
  await dialog.getByRole("button", { name: "Try it" }).click();
  const report = dialog.getByRole("list", { name: "What the import would do" });
  await report.getByText("channels: 1 created").waitFor();
  await report.getByText("region of gpt-4o is not imported").waitFor();
  await shoot(page, "daily-import");
  expect(await axeFindings(page)).toEqual([]);
  const root = await apiSignIn(opened.gateway.url, "root", ROOT_PASSWORD);
  expect(await root.must("GET", "/api/channel/")).toEqual([]);
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await dialog.getByRole("list", { name: "What was imported" }).getByText("channels: 1 created").waitFor();
  expect(await visitor.countClicks()).toBeLessThanOrEqual(5);
  expect(await root.must("GET", "/api/channel/")).toMatchObject([{ models: "gpt-4o" }]);
  const { faults } = visitor;
  await visitor.close();
  expect(faults).toEqual([]);
});
