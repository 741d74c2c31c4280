import { describe, expect, it } from "vitest";
import { isSecretOption, OPTION_KEYS, optionDefault, OPTIONS } from "../../packages/wire/src/index.ts";
import { buildOptionRules, listChoices, MAX_VALUE_CHARACTERS, SHAPES } from "./crd-options.ts";

const rules = buildOptionRules();
const findRule = (key: string) => rules.find(({ message }) => message.startsWith(`spec.values.${key} must be`));

/** Texts as people write them; most fit only some options. */
const NUMBERS = ["0", "1", " 7 ", "+3", "-1", "007", "1.5", ".5", "5.", "1e3", "1E-2", "12345678901234567"];
const WORDS = ["", " ", "true", "false", "True", "many", "a,b", "a\nb", "{}", "[]", "null"];
const ADDRESSES = ["https://a.example", "HTTP://A.example/x/ ", "ftp://a"];
const TEXTS = [...NUMBERS, ...WORDS, ...ADDRESSES];

/** The rule of an option, as a function. */
function createCheck(key: (typeof OPTION_KEYS)[number]): (text: string) => boolean {
  const choices = listChoices(key);
  if (choices) return (text) => choices.includes(text);
  const shape = SHAPES[OPTIONS[key].type.kind];
  return shape ? (text) => new RegExp(shape.pattern, "s").test(text) : () => true;
}

describe.each(OPTION_KEYS)("the rule of %s", (key) => {
  it("takes every text that the gateway takes, and refuses what no option of the kind is", () => {
    const takes = createCheck(key);
    const choices = listChoices(key) ?? [];
    const refused = [...TEXTS, ...choices, optionDefault(key)].filter(
      (text) => OPTIONS[key].type.read(text).isValid && !takes(text),
    );
    expect(refused).toEqual([]);
    const isChecked = choices.length > 0 || SHAPES[OPTIONS[key].type.kind] !== undefined;
    expect(findRule(key) !== undefined).toBe(isChecked);
    if (isChecked) expect(takes("many words")).toBe(false);
  });
});

it("refuses names that are no option, and options that hold secrets", () => {
  const refused = OPTION_KEYS.filter((key) => rules.some(({ rule }) => rule === `!('${key}' in self)`));
  expect(refused).toEqual(OPTION_KEYS.filter(isSecretOption));
  for (const key of OPTION_KEYS) expect(rules[0]?.rule).toContain(`'${key}'`);
});

it("fits into what the API server takes of a rule and its message", () => {
  for (const { message, messageExpression = "" } of rules) {
    expect(message.length).toBeLessThan(2_048);
    expect(message).not.toMatch(/\n/);
    expect(messageExpression.length).toBeLessThan(16_384);
  }
});

/** What the API server allows for all rules of a definition; it estimates a pattern by its length and that of the text. */
const BUDGET = 100_000_000;
const MAX_BYTES = MAX_VALUE_CHARACTERS * 4;
const estimatePattern = (pattern: string) => MAX_BYTES * 0.1 * Math.max(1, pattern.length * 0.25);

it("leaves room for further options: an API server refuses a definition whose rules may cost too much", () => {
  const patterns = rules.flatMap(({ rule }) => /\.matches\('(.+)'\)$/.exec(rule)?.[1] ?? []);
  expect(patterns.length).toBeGreaterThan(20);
  const cost = patterns.reduce((sum, pattern) => sum + estimatePattern(pattern.replaceAll("\\\\", "\\")), 0);
  expect(cost / BUDGET).toBeLessThan(0.7);
});
