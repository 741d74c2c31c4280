import { Key } from "selenium-webdriver";
import type { Budget, ChannelKey, Token } from "@fairway/wire";
import { ROOT_PASSWORD, signIn } from "@fairway/testkit";
import { expect } from "vitest";
import { totp } from "../../totp.ts";
import type { Task } from "./task.ts";

const limitedKey: Task = {
  title: "a key with $50 a month, two models and one network",
  async run(screen, { root }) {
    await screen.click("link", "Token");
    await screen.click("link", "Add token");
    const drawer = screen.within("dialog", "Add token");
    await drawer.fill("textbox", /^Name/, "shop");
    await drawer.fill("textbox", /^Spending limit/, "50");
    await drawer.choose(/^Limit for/, "each month");
    await drawer.clickText("label", "Only some models");
    await drawer.fill("combobox", "Models", `gpt-4o,gpt-4o-mini${Key.ENTER}`);
    await drawer.fill("textbox", /^Allowed addresses/, "203.0.113.0/24");
    await drawer.click("button", "Create token");
    await screen.seeRole("dialog", "Your new key");
    const tokens = await root.must<Token[]>("GET", "/api/token/");
    const token = tokens.find(({ name }) => name === "shop");
    expect(token).toMatchObject({ model_limits: "gpt-4o,gpt-4o-mini", allow_ips: "203.0.113.0/24" });
    expect(await root.must<Budget[]>("GET", "/api/budget/")).toMatchObject([
      { scope: "token", subject: String(token?.id), period: "month", quota_limit: 25_000_000, is_hard: true },
    ]);
  },
};

const leakedKey: Task = {
  title: "a leaked key is found, seen, blocked and replaced",
  async run(screen, { url, root }) {
    await root.must("POST", "/api/user/", { username: "ann", password: ROOT_PASSWORD, display_name: "ann" });
    const ann = await signIn(url, "ann", ROOT_PASSWORD);
    const token = await ann.must<Token>("POST", "/api/token/", { name: "build bot", unlimited_quota: true });
    await screen.until("the palette", async () => {
      await screen.chord(Key.CONTROL, "k");
      return screen.run<boolean>(`return document.querySelector("[role=dialog] [role=combobox]") !== null`);
    });
    const palette = screen.within("dialog", /./);
    await palette.fill("combobox", /./, `sk-${token.key}`);
    await palette.click("option", /build bot/);
    await screen.seeRole("heading", "build bot");
    await screen.click("button", "Disable");
    await screen.see("“build bot” is disabled.");
    await screen.click("button", "Replace key…");
    const dialog = screen.within("dialog", "Replace the key of “build bot”");
    await dialog.click("button", "Replace");
    await screen.see("“build bot” has a new key; ann can read it in the list of tokens.");
    expect(await ann.must<Token>("GET", `/api/token/${token.id}`)).toMatchObject({ status: 2 });
  },
};

const NEW = "sk-the-key-of-this-year-new1";

const channelKey: Task = {
  title: "the key of a channel is replaced without a pause",
  async run(screen, { root }) {
    await screen.click("link", "Channel");
    await screen.click("button", "Actions for brand new");
    await screen.click("menuitem", "Health and usage");
    await screen.click("button", "Replace a key…");
    const dialog = screen.within("dialog", /^Replace a key of/);
    await dialog.fill("textbox", /^New key/, NEW);
    await dialog.click("button", "Add and test");
    await dialog.see("Key 2 …new1 answered in ");
    await dialog.click("button", "Switch over");
    await dialog.see("No request runs with key 1 ");
    await dialog.click("button", /^Remove key 1/);
    await dialog.see(" is removed.");
    const id = 4;
    expect(await root.must<ChannelKey[]>("GET", `/api/channel/${id}/keys`)).toMatchObject([
      { hint: "new1", status: 1 },
    ]);
  },
};

const secondFactor: Task = {
  title: "a second factor is added",
  async run(screen) {
    await screen.click("link", "Settings");
    const card = screen.part("[role=group]", "Two-factor sign-in");
    await card.click("button", "Set up");
    let secret = "";
    await screen.until("the secret", async () => {
      secret = await screen.run<string>(
        `return document.querySelector("[data-testid=totp-secret]")?.textContent ?? ""`,
      );
      return secret !== "";
    });
    await card.fill("textbox", "Code", totp(secret));
    await card.click("button", "Switch on");
    await card.click("button", "I have saved them");
    await card.see("On");
  },
};

export const KEYS = { limitedKey, leakedKey, channelKey, secondFactor };
