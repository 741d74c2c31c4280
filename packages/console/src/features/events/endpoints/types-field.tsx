import { Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { EventTypeInfo } from "@fairway/wire";
import { LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { GroupFrame } from "../../../ui/form/rows/group-frame.tsx";
import { typesQuery } from "../api.ts";
import { describeType, useTexts } from "../texts.ts";
import "../events.css";

interface TypesFieldProps {
  readonly values: readonly string[];
  readonly error: string | undefined;
  /** True: also what only the operator hears. */
  readonly isOperator: boolean;
  /** Types that are chosen for good. */
  readonly locked?: readonly string[];
  onChange(values: string[]): void;
}

/** Types of events to choose from, each with the sentence that says when it happens. */
export function TypesField({ values, error, isOperator, locked = [], onChange }: TypesFieldProps) {
  const t = useTexts();
  const { data, error: problem, refetch } = useQuery(typesQuery);
  if (problem && !data) return <LoadFailed problem={problem} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  const offered = listOffered(data, isOperator);
  const toggle = (type: string, isOn: boolean) =>
    onChange(isOn ? [...values, type] : values.filter((other) => other !== type));
  return (
    <GroupFrame label={t("types")} error={error} help={t("typesHelp")}>
      <Flex direction="column" gap="2" maxH="96" overflowY="auto" tabIndex={0} role="group" aria-label={t("types")}>
        {offered.map((info) => (
          <label key={info.type} className="event-choice">
            <input
              type="checkbox"
              checked={values.includes(info.type) || locked.includes(info.type)}
              disabled={locked.includes(info.type)}
              onChange={(event) => toggle(info.type, event.target.checked)}
            />
            <span>
              <code>{info.type}</code>
              <Text as="span" display="block" textStyle="xs" color="fg.muted">
                {describeType(info)}
              </Text>
            </span>
          </label>
        ))}
      </Flex>
    </GroupFrame>
  );
}

/** A message that tests an endpoint is no event to choose. */
const TEST = "webhook.test";

function listOffered(types: readonly EventTypeInfo[], isOperator: boolean): EventTypeInfo[] {
  return types.filter(({ type, audience }) => type !== TEST && (isOperator || audience === "owner"));
}
