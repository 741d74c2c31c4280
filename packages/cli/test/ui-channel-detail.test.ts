// The history of a channel in the detail of `fairway ui`: the gateway sums its hours once a minute.
import { channelCreate, tokenCreate } from "@fairway/wire";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";
import { run } from "./terminal.ts";

const SUMMED_MS = 150_000;
let rig: Rig;
let env: Rig["env"];

beforeAll(async () => {
  rig = await startRig();
  ({ env } = rig);
  const body = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: rig.upstream.url };
  await rig.client.call(channelCreate, { body: { ...body, name: "harbour" } });
});
afterAll(() => rig?.stop());

test(
  "the detail of a channel draws its last hours: bars, plain letters without Unicode, sentences for readers",
  async () => {
    const { data } = await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
    const call = () =>
      fetch(`${rig.gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer sk-${data.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hi" }] }),
      });
    expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(200);
    const words = async () => (await run(["ui", "--plain"], env, "/harbour\n\nq\n")).out;
    await vi.waitFor(async () => expect(await words()).toMatch(/attempts: 2, most in an hour 2/), {
      timeout: SUMMED_MS,
      interval: 1_000,
    });
    expect(await words()).toMatch(/errors: 0, that is 0\.0 %[^]*latency: median \d+ ms/);
    expect(await words()).not.toMatch(/[▁-█]/);

    const open = async (more: Record<string, string>) => {
      const screen = openScreen(["ui"], { ...env, ...more }, 60);
      await screen.shows("harbour");
      screen.type("/harbour\r");
      await screen.shows(/\? help/);
      screen.type("\r");
      await screen.shows(/base url/);
      const shown = screen.lines().join("\n");
      screen.type("q");
      await screen.leave();
      return shown;
    };
    const bars = await open({ LANG: "en_US.UTF-8" });
    expect(bars).toMatch(/attempts [▁█]{24} {2}2/);
    expect(bars).toMatch(/errors {3}▁{24} {2}0, 0\.0 %/);
    const letters = await open({ LC_ALL: "C" });
    expect(letters).toMatch(/attempts _+#_* {2}2/);
    expect(letters).toMatch(/^status +enabled/m);
    expect(letters).not.toMatch(/[…·→↑↓▁-█]/);
    expect(await open({ TERM: "linux", LANG: "en_US.UTF-8" })).toMatch(/attempts _+#_* {2}2/);
  },
  2 * SUMMED_MS,
);
