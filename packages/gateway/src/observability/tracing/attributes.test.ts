import { expect, it } from "vitest";
import { attemptAttributes, attemptEndAttributes, usageAttributes, type GenAiConvention } from "./attributes.ts";

const attempt = { channelId: 1, channelName: "main", keyIndex: 0, provider: "openai", upstreamModel: "m" };

it.each<[GenAiConvention, readonly string[]]>([
  ["1.36", ["gen_ai.system"]],
  ["1.37", ["gen_ai.provider.name"]],
  ["both", ["gen_ai.system", "gen_ai.provider.name"]],
])("convention %s names the vendor as %s", (convention, names) => {
  const attributes = attemptAttributes(attempt, "chat", convention);
  expect(Object.keys(attributes).filter((name) => attributes[name] === "openai")).toEqual(names);
});

it("leaves out what is not known, and what the conventions only name where it applies", () => {
  expect(attemptAttributes({ ...attempt, isStream: false }, "chat", "1.37")).not.toHaveProperty(
    "gen_ai.request.stream",
  );
  expect(usageAttributes({ status: 200, outcome: "ok", inputTokens: 3, cachedInputTokens: 0 })).toEqual({
    "gen_ai.usage.input_tokens": 3,
  });
  const end = { status: 0, host: "", upstreamRequestId: undefined, errorCode: "upstream_unreachable" };
  expect(attemptEndAttributes(end)).toEqual({ "error.type": "upstream_unreachable" });
});
