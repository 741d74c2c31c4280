import { createHash, type Hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { AffinityRule, AffinitySource } from "@fairway/wire";
import type { Price } from "../../billing/pricing/price.ts";
import type { Body } from "../../dialects/core/types.ts";

/** The sources that identify the conversation of a request. */
export interface ConversationInput {
  readonly userId: number;
  readonly tokenId: number;
  readonly group: string;
  readonly model: string;
  /** Without the query. */
  readonly path: string;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders | undefined;
  readonly price: Price | undefined;
}

export interface Conversation {
  /** Hashed with its user, so that users cannot influence each other. */
  readonly name: string;
  readonly rule: AffinityRule;
}

const LONGEST_KEY = 512;
/** Upstreams cache prompts of about a thousand tokens or more. */
const CACHED_FROM_BYTES = 4_096;
const PREFIX_BYTES = 2_048;

interface Compiled {
  readonly rule: AffinityRule;
  readonly models: readonly RegExp[];
  readonly paths: readonly RegExp[];
  readonly sources: readonly ((input: ConversationInput) => string | Buffer | undefined)[];
}

const compiled = new WeakMap<readonly AffinityRule[], readonly Compiled[]>();

/** Returns the conversation of the first rule that fits and finds a name; undefined if none does. */
export function findConversation(input: ConversationInput, rules: readonly AffinityRule[]): Conversation | undefined {
  let known = compiled.get(rules);
  if (!known) {
    known = rules.map(compile);
    compiled.set(rules, known);
  }
  for (const { rule, models, paths, sources } of known) {
    if (!fits(models, input.model) || !fits(paths, input.path)) continue;
    if (rule.only_cached && !isCheaperCached(input.price)) continue;
    for (const source of sources) {
      const key = source(input);
      if (key !== undefined) return { name: hashConversation(rule, input, key), rule };
    }
  }
  return undefined;
}

function compile(rule: AffinityRule): Compiled {
  const patterns = (texts: readonly string[] = []) => texts.map((text) => new RegExp(text));
  return {
    rule,
    models: patterns(rule.model_regex),
    paths: patterns(rule.path_regex),
    sources: rule.key_sources.map(compileSource),
  };
}

function compileSource(source: AffinitySource): Compiled["sources"][number] {
  switch (source.type) {
    case "header": {
      const name = source.name.toLowerCase();
      return ({ headers }) => toConversationKey(headers?.[name]);
    }
    case "json": {
      const path = source.path.split(".");
      const pattern = source.pattern === undefined ? undefined : new RegExp(source.pattern);
      return ({ body }) => {
        const key = toConversationKey(memberAt(body.json(), path));
        if (key === undefined || !pattern) return key;
        const found = pattern.exec(key);
        return found?.[1] ?? found?.[0];
      };
    }
    case "token":
      return ({ tokenId }) => (tokenId === 0 ? undefined : String(tokenId));
    case "user":
      return ({ userId }) => String(userId);
    case "prompt":
      return ({ body: { bytes } }) => (bytes.length < CACHED_FROM_BYTES ? undefined : bytes.subarray(0, PREFIX_BYTES));
  }
}

function fits(patterns: readonly RegExp[], text: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => pattern.test(text));
}

function isCheaperCached(price: Price | undefined): boolean {
  return price?.kind === "tokens" && price.cacheRatio < 1;
}

function memberAt(from: unknown, path: readonly string[]): unknown {
  let value = from;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function toConversationKey(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" && value.length <= LONGEST_KEY ? value : undefined;
}

function hashConversation(
  rule: AffinityRule,
  { userId, group, model }: ConversationInput,
  key: string | Buffer,
): string {
  const hash: Hash = createHash("sha1").update(`${userId}\n`);
  if (rule.include_group) hash.update(`group ${group}\n`);
  if (rule.include_model) hash.update(`model ${model}\n`);
  if (rule.include_rule) hash.update(`rule ${rule.name}\n`);
  return hash.update(key).digest("base64url");
}
