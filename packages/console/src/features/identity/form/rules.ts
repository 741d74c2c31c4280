import type { MappingRule } from "@fairway/wire";

export const OPERATORS = ["equals", "prefix", "in", "exists", "absent"] as const;
export type Operator = (typeof OPERATORS)[number];

/** A rule as the form shows it: one comparison with one text. */
export interface RuleDraft {
  readonly claim: string;
  readonly operator: Operator;
  /** Values of `in` are separated by commas. */
  readonly value: string;
  /** "" = the rule gives none. */
  readonly role: "" | "user" | "admin";
  readonly group: string;
}

export const NEW_RULE: RuleDraft = { claim: "groups", operator: "equals", value: "", role: "", group: "" };

export function toRuleDraft({ when, role, group }: MappingRule): RuleDraft {
  return { claim: when.claim, ...readCondition(when), role: role ?? "", group: group ?? "" };
}

function readCondition({
  equals,
  prefix,
  in: list,
  exists,
}: MappingRule["when"]): Pick<RuleDraft, "operator" | "value"> {
  if (equals !== undefined) return { operator: "equals", value: equals };
  if (prefix !== undefined) return { operator: "prefix", value: prefix };
  if (list !== undefined) return { operator: "in", value: list.join(", ") };
  return { operator: exists === false ? "absent" : "exists", value: "" };
}

export function toRule({ claim, operator, value, role, group }: RuleDraft): MappingRule {
  return {
    when: { claim: claim.trim(), ...toCondition(operator, value) },
    ...(role !== "" && { role }),
    ...(group.trim() !== "" && { group: group.trim() }),
  };
}

function toCondition(operator: Operator, value: string): Omit<MappingRule["when"], "claim"> {
  switch (operator) {
    case "equals":
      return { equals: value.trim() };
    case "prefix":
      return { prefix: value.trim() };
    case "in":
      return { in: splitList(value) };
    default:
      return { exists: operator === "exists" };
  }
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function needsValue(operator: Operator): boolean {
  return operator !== "exists" && operator !== "absent";
}

/** Returns what a rule lacks, as a key of this feature's texts; undefined for a whole one. */
export function findRuleFault(rule: RuleDraft): "ruleNoClaim" | "ruleNoValue" | "ruleNoResult" | undefined {
  if (rule.claim.trim() === "") return "ruleNoClaim";
  if (needsValue(rule.operator) && splitList(rule.value).length === 0) return "ruleNoValue";
  if (rule.role === "" && rule.group.trim() === "") return "ruleNoResult";
  return undefined;
}
