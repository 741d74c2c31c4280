import { expect, test } from "vitest";
import { createBreakers } from "../../relay/selection/breaker.ts";
import { createCooldowns } from "../../relay/selection/cooldown.ts";
import { createUsageDoubts } from "../../relay/selection/usage-doubts.ts";
import { channelHealthRoute } from "./health-route.ts";

test("keys that are skipped or report doubtful usage are listed by channel", () => {
  const clock = { now: () => 1_000_000 };
  const [breakers, cooldowns] = [createBreakers({ clock }), createCooldowns(clock)];
  cooldowns.rest(9, 0, "m", 4_000);
  breakers.applyRemote(2, 1, 20_000);
  breakers.observe(3, 0, "failed");
  const usageDoubts = createUsageDoubts(clock);
  usageDoubts.doubt(5, 0, "m");
  usageDoubts.doubt(5, 0, "m");
  const route = channelHealthRoute({ breakers, cooldowns, usageDoubts, now: clock.now });
  const rest = { model: "", consecutive_failures: 0 };
  expect(route.handler({} as never)).toEqual([
    { ...rest, channel_id: 2, key_index: 1, state: "open", wait_ms: 20_000 },
    { ...rest, channel_id: 3, key_index: 0, state: "failing", wait_ms: 0, consecutive_failures: 1 },
    { ...rest, channel_id: 5, key_index: 0, state: "doubtful-usage", model: "m", wait_ms: 0, consecutive_failures: 2 },
    { ...rest, channel_id: 9, key_index: 0, state: "resting", model: "m", wait_ms: 4_000 },
  ]);
});
