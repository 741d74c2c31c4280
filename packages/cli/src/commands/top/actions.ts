import { CHANNEL_STATUS, channelUpdate, type Channel, type Client } from "@fairway/wire";
import { testOne } from "../channel/checks.ts";
import { formatErrorMessage } from "../../core/problem.ts";

/** What a key does to the chosen channel. */
export type Action = "test" | "enable" | "disable";

/** Runs the action and returns a message about the result; never throws. */
export async function act(client: Client, action: Action, { id, name }: Channel): Promise<string> {
  const named = `channel ${id} (${name})`;
  try {
    if (action === "test") {
      const { ok, seconds, message } = await testOne(client, id, undefined);
      return ok ? `${named} answered in ${seconds.toFixed(2)} s` : `${named} failed its test: ${message}`;
    }
    const status = action === "enable" ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand;
    await client.call(channelUpdate, { body: { id, status } });
    return `${named} is ${action}d`;
  } catch (error) {
    return `${named}: ${formatErrorMessage(error)}`;
  }
}
