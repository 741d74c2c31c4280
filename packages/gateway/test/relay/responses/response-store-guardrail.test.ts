import { beforeAll, expect, it } from "vitest";
import { useGuardrail } from "../guardrail/guardrail-webhook.ts";
import { openResponseClient } from "./response-store-kit.ts";
import { readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const guardrail = useGuardrail(relay);
const { respond, send, call } = openResponseClient(relay);
const model = "claude+echo";

beforeAll(async () => {
  await relay.gateway.channel(model, { type: 14 });
});

it("the guardrail judges the whole conversation", async () => {
  const first = await respond({ model, input: "one" });
  const { output } = await respond({ model, input: "two", previous_response_id: first.id });
  await respond({
    model,
    input: [
      { role: "user", content: "three" },
      { type: "item_reference", id: output[0]?.["id"] },
    ],
  });
  const asked = guardrail.webhook.questions.filter(({ phase }) => phase === "prompt").map(({ text }) => text);
  expect(asked).toEqual(["one", "one\none\ntwo", "three\ntwo"]);
});

it.each([false, true])("a refused answer is not stored (stream: %s)", async (stream) => {
  guardrail.webhook.react(({ phase }) => ({ action: phase === "answer" ? "block" : "allow" }));
  const refused = await send({ model, input: "x", stream });
  expect(await refused.text()).toContain("refused by the content policy");
  expect((await call("GET", `resp_${refused.headers.get("x-request-id")}`)).status).toBe(404);
  guardrail.webhook.react(() => ({ action: "allow" }));
  const allowed = await send({ model, input: "x", stream });
  await allowed.text();
  expect((await call("GET", `resp_${allowed.headers.get("x-request-id")}`)).status).toBe(200);
});

it("newly blocked words are found in earlier turns", async () => {
  const first = await respond({ model, input: "a harmless word" });
  await relay.gateway.option("SensitiveWords", "harmless");
  const next = await send({ model, input: "x", previous_response_id: first.id });
  expect([next.status, (await readError(next)).code]).toEqual([400, "sensitive_words_detected"]);
});
