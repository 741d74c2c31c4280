// Creates sample data for development and exploration, through the management API and by real calls.
import { createChannel, createToken, setModelRatios, type Session } from "../packages/testkit/src/api.ts";

const OPENAI_MODELS = ["gpt-4o", "gpt-4o-mini", "tools", "reasoning", "slow-50", "status-429", "cut-after-3", "echo"];
const CHANNELS = [
  { name: "OpenAI (fake)", type: 1, models: OPENAI_MODELS },
  { name: "Anthropic (fake)", type: 14, models: ["claude-sonnet-4-5", "claude-opus-4-5"] },
  { name: "Gemini (fake)", type: 24, models: ["gemini-2.5-flash", "gemini-2.5-pro"] },
] as const;
const USERS = ["alice", "bob", "carol"];
const CALLS = 60;

/** Fills an empty installation once; returns a key that reaches every sample model. */
export async function addSample(root: Session, upstream: string): Promise<string> {
  const present = await root.must<{ name: string }[]>("GET", "/api/channel/?page_size=100");
  const isFirst = present.every((channel) => channel.name !== CHANNELS[0].name);
  if (isFirst) await fill(root, upstream);
  const key = await createToken(root, { name: "development" });
  if (isFirst) await makeTraffic(root.url, key);
  return key;
}

async function fill(root: Session, upstream: string): Promise<void> {
  for (const { models, ...channel } of CHANNELS)
    await createChannel(root, { ...channel, base_url: upstream, models: models.join(",") });
  await setModelRatios(
    root,
    Object.fromEntries(CHANNELS.flatMap(({ models }) => models.map((model) => [model, 1.25]))),
  );
  for (const username of USERS)
    await root.must("POST", "/api/user/", { username, password: `${username}-password`, display_name: username });
}

async function makeTraffic(url: string, key: string): Promise<void> {
  const models = CHANNELS.flatMap((channel) => channel.models).filter((model) => !/slow|status|cut/.test(model));
  for (let i = 0; i < CALLS; i++) {
    const model = models[i % models.length];
    const messages = [{ role: "user", content: `Sample question ${i}` }];
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages, stream: i % 2 === 0 }),
    });
    await answer.text();
  }
}
