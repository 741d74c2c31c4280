import { expect, it } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

const NUMBERS = "[12345678901234567890,1e400,-0,0.12345678901234567891]";
const body = (model: string) =>
  `{"model":"${model}","messages":[{"role":"user","content":"u"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"enum":${NUMBERS}}}}}}],"temperature":1.0}`;

it.each([
  ["as they are", {}],
  ["with overridden parameters", { param_override: '{"seed":12345678901234567890}' }],
  ["with a vendor's rules", { type: 42 }],
  ["with Anthropic's protocol", { type: 14 }],
])("numbers of schemas reach the upstream %s", async (name, channel) => {
  const model = `usage-${name.length}-7`;
  await relay.gateway.channel(model, channel);
  const response = await relay.gateway.post("/v1/chat/completions", body(model), relay.key);
  expect(response.status).toBe(200);
  const sent = relay.gateway.upstream.requests.at(-1)?.body.toString() ?? "";
  expect(sent).toContain(NUMBERS);
  if ("param_override" in channel) expect(sent).toContain('"seed":12345678901234567890');
});
