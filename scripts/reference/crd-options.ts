// Checks of the values of options in custom resources, from the table of options. They refuse nothing that the gateway
// accepts: bounds and contents stay with the gateway, which says them in a condition.
import {
  isSecretOption,
  OPTION_KEYS,
  OPTIONS,
  type OptionKey,
  type OptionKind,
} from "../../packages/wire/src/index.ts";

/** A CEL expression that must be true, what it says otherwise, and an expression for a message that names the value. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression?: string;
}

/** More names than any set has, so that the API server can bound the work of a rule. */
export const MAX_OPTIONS = 512;
/**
 * The API server charges each pattern for the longest text that it may meet, and refuses a definition whose rules cost
 * more than its budget together. A set of options with a longer value is split or sent over the API.
 */
export const MAX_VALUE_CHARACTERS = 500_000;

/** What a text of this kind looks like, in short patterns because the API server charges their length; kinds without an entry take texts that only the gateway can judge. */
export const SHAPES: Readonly<Partial<Record<OptionKind, { readonly pattern: string; readonly says: string }>>> = {
  integer: { pattern: "^[\\s0-9+-]+$", says: "an integer" },
  number: { pattern: "^[\\s0-9eE.+-]+$", says: "a number" },
  url: { pattern: "^\\s*([hH][tT][tT][pP]|$)", says: "an http(s) address or empty" },
};

/** The texts that an option takes, if they can be listed. */
export function listChoices(key: OptionKey): readonly string[] | undefined {
  const { kind, choices } = OPTIONS[key].type;
  return kind === "flag" ? ["true", "false"] : choices;
}

/** Returns the rules for `spec.values`: known names, nothing secret, and what is no value of its option. */
export function buildOptionRules(): readonly CelRule[] {
  return [
    buildNameRule(),
    ...OPTION_KEYS.filter(isSecretOption).map(buildSecretRule),
    ...OPTION_KEYS.flatMap(buildValueRule),
  ];
}

/** Its message names the first wrong name: to join all of them exceeds what the API server lets a message cost. */
function buildNameRule(): CelRule {
  const unknown = `self.filter(name, !(name in ${quoteList(OPTION_KEYS)}))`;
  const says = "spec.values has a name that is no option of this version of the definitions";
  return { rule: `${unknown}.size() == 0`, message: says, messageExpression: `'${says}: ' + ${unknown}[0]` };
}

function buildSecretRule(key: OptionKey): CelRule {
  return {
    rule: `!('${key}' in self)`,
    message: `spec.values.${key} holds a secret, which everyone who reads the resource would see: name a key of a Secret in spec.valuesFrom`,
  };
}

function buildValueRule(key: OptionKey): readonly CelRule[] {
  if (isSecretOption(key)) return [];
  const [value, missing] = [`self['${key}']`, `!('${key}' in self)`];
  const choices = listChoices(key);
  if (choices)
    return [
      {
        rule: `${missing} || ${value} in ${quoteList(choices)}`,
        message: `spec.values.${key} must be ${choices.join(" or ")}`,
      },
    ];
  const shape = SHAPES[OPTIONS[key].type.kind];
  if (!shape) return [];
  const pattern = shape.pattern.replaceAll("\\", "\\\\");
  return [
    { rule: `${missing} || ${value}.matches('${pattern}')`, message: `spec.values.${key} must be ${shape.says}` },
  ];
}

function quoteList(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(", ")}]`;
}
