import { Button, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Icon } from "../../../ui/display/icon.tsx";
import { IconButton } from "../../../ui/display/icon-button.tsx";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { GroupFrame } from "../../../ui/form/rows/group-frame.tsx";
import { groupsQuery } from "../../../session/groups.ts";
import { useTexts } from "../texts.ts";
import { findRuleFault, needsValue, NEW_RULE, OPERATORS, type RuleDraft } from "./rules.ts";

const OPERATOR_TEXT = {
  equals: "opEquals",
  prefix: "opPrefix",
  in: "opIn",
  exists: "opExists",
  absent: "opAbsent",
} as const;
const ROLES = { "": "roleNone", user: "roleUser", admin: "roleAdmin" } as const;

interface RulesProps {
  readonly rules: readonly RuleDraft[];
  readonly help: string;
  readonly error: string | undefined;
  onChange(rules: readonly RuleDraft[]): void;
}

/** What claims give: the first rule that gives a role or a group decides it. */
export function RulesField({ rules, help, error, onChange }: RulesProps) {
  const t = useTexts();
  return (
    <GroupFrame label={t("rules")} help={help} error={error}>
      <Flex direction="column" gap="3">
        {rules.map((rule, index) => (
          <Rule
            key={index}
            number={index + 1}
            rule={rule}
            hasError={error !== undefined}
            onChange={(next) => onChange(rules.map((other, at) => (at === index ? next : other)))}
            onRemove={() => onChange(rules.filter((_rule, at) => at !== index))}
          />
        ))}
        <Button size="xs" variant="outline" alignSelf="flex-start" onClick={() => onChange([...rules, NEW_RULE])}>
          <Icon name="plus" size={14} />
          {t("ruleAdd")}
        </Button>
      </Flex>
    </GroupFrame>
  );
}

interface RuleProps {
  readonly number: number;
  readonly rule: RuleDraft;
  readonly hasError: boolean;
  onChange(rule: RuleDraft): void;
  onRemove(): void;
}

function Rule({ number, rule, hasError, onChange, onRemove }: RuleProps) {
  const t = useTexts();
  const groups = useQuery(groupsQuery).data ?? [];
  const set = (change: Partial<RuleDraft>) => onChange({ ...rule, ...change });
  const fault = hasError ? findRuleFault(rule) : undefined;
  return (
    <Flex
      role="group"
      aria-label={t("rule", { n: number })}
      direction="column"
      gap="3"
      borderWidth="1px"
      borderRadius="l2"
      p="3"
    >
      <Flex align="center">
        <Text textStyle="xs" color="fg.muted" flex="1">
          {t("rule", { n: number })}
        </Text>
        <IconButton size="xs" label={t("ruleRemove", { n: number })} onClick={onRemove}>
          <Icon name="close" size={14} />
        </IconButton>
      </Flex>
      <SimpleGrid columns={{ base: 1, sm: needsValue(rule.operator) ? 3 : 2 }} gap="3">
        <TextField label={t("claim")} isMono value={rule.claim} onChange={(claim) => set({ claim })} />
        <SelectField
          label={t("operator")}
          value={rule.operator}
          choices={OPERATORS.map((value) => ({ value, label: t(OPERATOR_TEXT[value]) }))}
          onChange={(next) => set({ operator: OPERATORS.find((one) => one === next) ?? "equals" })}
        />
        {needsValue(rule.operator) && (
          <TextField label={t("value")} isMono value={rule.value} onChange={(value) => set({ value })} />
        )}
      </SimpleGrid>
      <SimpleGrid columns={{ base: 1, sm: 2 }} gap="3">
        <SelectField
          label={t("givesRole")}
          value={rule.role}
          choices={Object.entries(ROLES).map(([value, text]) => ({ value, label: t(text) }))}
          onChange={(next) => set({ role: next === "user" || next === "admin" ? next : "" })}
        />
        <TextField
          label={t("givesGroup")}
          value={rule.group}
          suggestions={groups.map((value) => ({ value, label: "" }))}
          onChange={(group) => set({ group })}
        />
      </SimpleGrid>
      {fault !== undefined && (
        <Text textStyle="xs" color="fg.error">
          {t(fault)}
        </Text>
      )}
    </Flex>
  );
}
