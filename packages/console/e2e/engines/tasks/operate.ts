import type { Channel, PricePlan } from "@fairway/wire";
import { expect } from "vitest";
import type { Task } from "./task.ts";

const DAY_MS = 86_400_000;

const pause: Task = {
  title: "a provider is down: its channels pause and come back",
  async run(screen) {
    await screen.click("link", "Channel");
    await screen.click("button", "All channels…");
    await screen.click("menuitem", "Pause…");
    const dialog = screen.within("dialog", /^Pause/);
    await dialog.choose("Type", "OpenAI");
    await dialog.fill("textbox", "Reason", "outage");
    await dialog.click("button", "Pause");
    await screen.see("4 channels paused:");
    await screen.click("button", "Resume");
    await screen.see("4 channels are back.");
  },
};

function toLocalText(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const price: Task = {
  title: "the price of a model from tomorrow",
  async run(screen, { root }) {
    await screen.click("link", "Settings");
    await screen.click("link", "Price table");
    const cell = "Input / 1M of gpt-4o, in dollars";
    await screen.until("the price", async () => (await screen.read("textbox", cell)) === "2");
    await screen.fill("textbox", cell, "1");
    await screen.click("button", "Review changes (1)");
    const review = screen.within("dialog", "Change prices?");
    await review.setValue("From", toLocalText(new Date(Date.now() + DAY_MS)));
    await review.see("1 model has another price from then on.");
    await review.click("button", "Plan changes (1)");
    await screen.part("section", "Planned prices").see("gpt-4o");
    expect((await root.must<PricePlan[]>("GET", "/api/price/plan"))[0]).toMatchObject({ state: "planned" });
    await screen.click("button", "Cancel plan");
    await screen.seeNone("heading", "Planned prices");
  },
};

const CONFIG = `model_list: [{model_name: imported, litellm_params: {model: openai/gpt-4o, api_key: os.environ/KEY}}]`;

const imported: Task = {
  title: "channels are imported",
  async run(screen, { root }) {
    await screen.click("link", "Channel");
    await screen.click("button", "All channels…");
    await screen.click("menuitem", "Import…");
    const dialog = screen.within("dialog", "Import channels");
    await dialog.fill("textbox", /^Configuration/, CONFIG);
    await dialog.fill("textbox", /^Variables/, "KEY=sk-of-the-import");
    await dialog.click("button", "Try it");
    await dialog.see("channels: 1 created");
    await dialog.click("button", "Import");
    await dialog.see("What was imported");
    const channels = await root.must<Channel[]>("GET", "/api/channel/?page_size=100");
    expect(channels.filter(({ models }) => models === "imported")).toHaveLength(1);
  },
};

export const OPERATING = { pause, price, imported };
