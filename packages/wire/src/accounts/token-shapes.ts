// Schemas of the fields of a token, built from their table: as calls send them and as answers show them.
import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { LimitsInput, LimitsView } from "../core/limits.ts";
import { fill, REASONS } from "../core/reasons.ts";
import { TagLimits } from "../core/tag-limits.ts";
import { FixedTags, TagPolicy } from "../core/tag-policy.ts";
import { TOKEN_FIELD_NAMES, TOKEN_FIELDS, type TokenField, type TokenFieldName } from "./token-fields.ts";

type Kind = TokenField["kind"];

function buildText({ most }: TokenField) {
  return most === undefined ? z.string() : textUpTo(most);
}

function buildWhole({ least, most }: TokenField) {
  const checks = [...(least === undefined ? [] : [z.minimum(least)]), ...(most === undefined ? [] : [z.maximum(most)])];
  return z.int().check(...checks);
}

/** Builders of the member that calls send. */
const SENT = {
  text: buildText,
  choice: ({ choices = [] }) => z.enum(choices, { error: fill(REASONS.choice, { names: choices.join(", ") }) }),
  list: buildText,
  lines: buildText,
  fallbacks: buildText,
  whole: buildWhole,
  time: buildWhole,
  // Read as a number, so that a fraction is answered with `quota_invalid`.
  amount: () => z.number({ error: REASONS.integer }),
  flag: () => z.boolean(),
  limits: () => LimitsInput,
  tags: () => FixedTags,
  policy: () => TagPolicy,
  tag_limits: () => TagLimits,
} satisfies Readonly<Record<Kind, (field: TokenField) => z.ZodMiniType>>;

/** Builders of the member of answers, which is never null. */
const SHOWN = {
  text: () => z.string(),
  choice: () => z.string(),
  list: () => z.string(),
  lines: () => z.string(),
  fallbacks: () => z.string(),
  whole: () => z.int(),
  time: () => z.int(),
  amount: () => z.int(),
  flag: () => z.boolean(),
  limits: () => LimitsView,
  tags: () => FixedTags,
  policy: () => TagPolicy,
  tag_limits: () => TagLimits,
} satisfies Readonly<Record<Kind, () => z.ZodMiniType>>;

type KindOf<F extends TokenFieldName> = (typeof TOKEN_FIELDS)[F]["kind"];
type SentShape = { readonly [F in TokenFieldName]: z.ZodMiniOptional<ReturnType<(typeof SENT)[KindOf<F>]>> };
type ShownShape = { readonly [F in TokenFieldName]: ReturnType<(typeof SHOWN)[KindOf<F>]> };

function buildShape(build: (field: TokenField) => z.ZodMiniType): Readonly<Record<string, z.ZodMiniType>> {
  return Object.fromEntries(TOKEN_FIELD_NAMES.map((name) => [name, build(TOKEN_FIELDS[name])]));
}

export const sentTokenFields = buildShape((field) => z.optional(SENT[field.kind](field))) as unknown as SentShape;
export const shownTokenFields = buildShape(({ kind }) => SHOWN[kind]()) as unknown as ShownShape;
