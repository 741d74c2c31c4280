import { describe, expect, it } from "vitest";
import { consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

const MISTRAL = 42;
const DROPPED = "x-fairway-dropped";

async function readOther(response: Response) {
  await response.text();
  const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
  return row?.["other"];
}

describe("what does not reach the upstream", () => {
  // @weakness Providers' keys: a vendor's allow-list removes members of a request and neither caller nor log learns of it
  it.each([false, true])("is named in a header and in the log row (stream: %s)", async (stream) => {
    await relay.gateway.channel("usage-3-7", { type: MISTRAL });
    const response = await relay.ask("usage-3-7", { top_k: 5, min_p: 0.1, seed: 1, stream });
    expect(response.status).toBe(200);
    expect(response.headers.get(DROPPED)).toBe("top_k, min_p");
    expect(await readOther(response)).toMatchObject({ dropped_params: ["top_k", "min_p"] });
  });

  it("is named for the channel that answers, not for one that failed before it", async () => {
    await relay.gateway.option("RetryTimes", 1);
    const model_mapping = '{"asked":"status-500"}';
    await relay.gateway.channel("asked", { type: MISTRAL, priority: 10, model_mapping });
    await relay.gateway.channel("asked", { model_mapping: '{"asked":"usage-3-7"}' });
    const response = await relay.ask("asked", { top_k: 5 });
    expect(response.status).toBe(200);
    expect(response.headers.has(DROPPED)).toBe(false);
    expect(await readOther(response)).not.toHaveProperty("dropped_params");
  });

  it("has no header where nothing is lost, and a readable one for names of any letters", async () => {
    await relay.gateway.channel("usage-4-7");
    expect((await relay.ask("usage-4-7", { top_k: 5 })).headers.has(DROPPED)).toBe(false);
    await relay.gateway.channel("usage-3-8", { type: MISTRAL });
    const response = await relay.ask("usage-3-8", { "größe\r\nx: y": 5 });
    expect([response.status, response.headers.get(DROPPED)]).toEqual([200, "gr??e??x:?y"]);
  });
});
