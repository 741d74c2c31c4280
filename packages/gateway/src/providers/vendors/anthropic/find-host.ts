import type { FilterOverride } from "@fairway/wire";
import { isIP } from "node:net";
import { HOST_RULES, type HostRules, type MemberRules, type MessagesHost } from "./host-rules.ts";

/** Hosts by the end of their names; the first match wins. */
const HOSTS: readonly (readonly [RegExp, MessagesHost])[] = [
  [/(?:^|\.)anthropic\.com$/, "anthropic"],
  [/(?:^|\.)azure\.(?:com|us|cn)$/, "foundry"],
  [/^bedrock-mantle\./, "bedrock-mantle"],
  [/^bedrock-runtime[.-]/, "bedrock-invoke"],
  [/(?:^|\.)googleapis\.com$/, "vertex"],
  [/(?:^|\.)openrouter\.ai$/, "openrouter"],
  [/(?:^|\.)deepseek\.com$/, "deepseek"],
  [/(?:^|\.)(?:moonshot\.(?:cn|ai)|kimi\.com)$/, "kimi"],
  [/(?:^|\.)(?:bigmodel\.cn|z\.ai)$/, "glm"],
  [/(?:^|\.)(?:minimax\.(?:io|chat)|minimaxi\.com)$/, "minimax"],
  [/(?:^|\.)aliyuncs\.com$/, "qwen"],
];

/**
 * Returns the host behind a base URL; the vendor's own if a channel has none. A server in the operator's own network
 * counts as a relay of the vendor, because nothing is known that it would refuse.
 */
export function findHost(baseUrl: string): MessagesHost {
  if (baseUrl === "" || !URL.canParse(baseUrl)) return "anthropic";
  const name = new URL(baseUrl).hostname.toLowerCase();
  const known = HOSTS.find(([pattern]) => pattern.test(name))?.[1];
  return known ?? (isOwnNetwork(name) ? "anthropic" : "other");
}

function isOwnNetwork(name: string): boolean {
  return (
    isIP(name.replaceAll(/[[\]]/g, "")) > 0 ||
    !name.includes(".") ||
    /\.(?:local|internal|localhost|lan|test|svc)$/.test(name)
  );
}

/** Returns the rules of a host. OpenRouter forwards what only Claude takes if the model is a Claude model. */
export function findHostRules(host: MessagesHost, model: string): HostRules {
  const rules = HOST_RULES[host];
  if (host !== "openrouter" || !model.startsWith("anthropic/")) return rules;
  return { ...rules, betas: { unknown: "forward" }, members: { drop: ["container", "mcp_servers"] } };
}

/** Returns the rules of a host with the operator's overrides for the host or the channel. */
export function overridden(rules: HostRules, { forward = [], drop = [], rename, members }: FilterOverride): HostRules {
  const { betas } = rules;
  return {
    ...rules,
    betas: {
      ...betas,
      forward: [...(betas.forward ?? []), ...forward].filter((beta) => !drop.includes(beta)),
      drop: [...(betas.drop ?? []).filter((beta) => !forward.includes(beta)), ...drop],
      rename: { ...betas.rename, ...rename },
    },
    members: overriddenMembers(rules.members, members),
    hasCacheScope: rules.hasCacheScope || members?.keep?.includes("cache_control.scope") === true,
  };
}

function overriddenMembers(
  { drop = [], keep, dropWithoutBeta = {} }: MemberRules,
  { drop: alsoDropped = [], keep: alsoTaken = [] }: NonNullable<FilterOverride["members"]> = {},
): MemberRules {
  const withoutTaken = (paths: readonly string[]) => paths.filter((path) => !alsoTaken.includes(path));
  return {
    drop: [...withoutTaken(drop), ...alsoDropped],
    ...(keep && { keep: [...keep, ...alsoTaken] }),
    dropWithoutBeta: Object.fromEntries(
      Object.entries(dropWithoutBeta).map(([beta, paths]) => [beta, withoutTaken(paths)]),
    ),
  };
}
