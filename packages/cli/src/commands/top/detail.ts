import { dollars, keyNumber, type Channel } from "@fairway/wire";
import { statusWord } from "../channel/channel.ts";
import { countInFlight, findUsage } from "./choice.ts";
import type { Line } from "./line.ts";
import type { Sample, ServerIdentity } from "./sample.ts";

/** Renders one channel with everything that a sample has about it. */
export function renderDetail(place: ServerIdentity, sample: Sample, channel: Channel, span: string): Line[] {
  const { money } = place;
  const { id, name, status, models, group, priority, weight, tag, base_url: base, other_info: info } = channel;
  const usage = findUsage(sample, id);
  const ms = (value: number) => `${(value / 1000).toFixed(2)} s`;
  const health = sample.health.filter((one) => one.channel_id === id);
  const facts: readonly (readonly [string, string])[] = [
    ["status", `${statusWord(status)} ${info}`.trim()],
    ["group", group],
    ["priority", `${priority}, weight ${weight}`],
    ["tag", tag ?? ""],
    ["base url", base],
    ["models", models.replaceAll(",", ", ")],
    ["last test", channel.response_time === 0 ? "" : `${channel.response_time} ms`],
    ["used", `$${dollars(channel.used_quota, 2, money.quotaPerUnit)}`],
    ["in flight", String(countInFlight(sample, id))],
    ...(usage
      ? ([
          [`attempts, ${span}`, `${usage.calls}, ${usage.errors} failed, ${usage.refused} refused`],
          ["spent", `$${dollars(usage.quota, 4, money.quotaPerUnit)}`],
          ["tokens", `${usage.input_tokens} in, ${usage.output_tokens} out`],
          ["first token", `${ms(usage.first_token.p50)} median, ${ms(usage.first_token.p95)} p95`],
          ["duration", `${ms(usage.latency.p50)} median, ${ms(usage.latency.p95)} p95`],
        ] as const)
      : ([[`attempts, ${span}`, "none"]] as const)),
    ...health.map(
      ({ key_index: index, state, model, wait_ms: wait }) =>
        [
          `key ${keyNumber(index)}`,
          `${state}${model === "" ? "" : ` for ${model}`}${wait > 0 ? `, ${Math.ceil(wait / 1000)} s` : ""}`,
        ] as const,
    ),
  ];
  const filled = facts.filter(([, text]) => text !== "");
  const width = Math.max(...filled.map(([word]) => word.length));
  return [
    { text: `CHANNEL ${id} ${name}`, tone: "title" },
    ...filled.map(([word, text]): Line => ({ text: `${word.padEnd(width)}  ${text}` })),
  ];
}
