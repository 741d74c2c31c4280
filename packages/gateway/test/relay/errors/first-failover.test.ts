import { expect, test } from "vitest";
import { chat, startRelayApp } from "../../kit/relay-app.ts";

test("a new gateway with its defaults moves the first failed call to the other channel", async () => {
  // Blank counts as unset.
  const gateway = await startRelayApp({ FAIRWAY_FIRST_RETRIES: "" });
  try {
    const mapTo = (name: string) => ({ model_mapping: JSON.stringify({ model: name }) });
    await gateway.channel("model", { priority: 10, ...mapTo("status-503") });
    await gateway.channel("model", mapTo("fine"));
    const answer = await gateway.post("/v1/chat/completions", chat("model"), await gateway.token());
    expect(answer.status).toBe(200);
    const options = await gateway.root.must<{ key: string; value: string }[]>("GET", "/api/option/");
    expect(options).toContainEqual({ key: "RetryTimes", value: "2" });
  } finally {
    await gateway.close();
  }
});
