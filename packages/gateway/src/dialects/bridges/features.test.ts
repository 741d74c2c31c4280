import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import { AppError } from "../../lib/app-error.ts";
import { FEATURES, type Fate, type Feature, type Upstream } from "./features.ts";

const MODELS: Readonly<Record<Upstream, string>> = {
  "openai-chat": "gpt-4.1",
  "anthropic-messages": "claude-haiku-4-5",
  "gemini-generate": "gemini-2.5-flash",
  "openai-responses": "gpt-5.2",
};

function resolveFate(feature: Feature, upstream: Upstream): Fate {
  const bridge = run("openai-chat", upstream, MODELS[upstream]);
  try {
    bridge.request({ model: "m", messages: [{ role: "user", content: "u" }], ...feature.sample });
  } catch (error) {
    if (error instanceof AppError && error.code === "unsupported_parameter") return "refused";
    throw error;
  }
  return bridge.dropped.length > 0 ? "dropped" : "preserved";
}

describe.each(FEATURES.map((feature) => [feature.name, feature] as const))("%s", (_name, feature) => {
  it.each(Object.entries(feature.fate))("to %s is %s", (upstream, fate) => {
    expect(resolveFate(feature, upstream as Upstream)).toBe(fate);
  });
});
