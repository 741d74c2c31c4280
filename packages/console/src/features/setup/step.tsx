import { Box, Flex, Heading } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Icon } from "../../ui/display/icon.tsx";

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly state: "done" | "now" | "later";
  readonly doneLabel: string;
  /** Shown under the title of a finished step. */
  readonly summary?: ReactNode;
  readonly children?: ReactNode;
}

/** One of several steps: its number becomes a tick when done, and its content shows while it is the current step. */
export function Step(props: StepProps) {
  const { state } = props;
  const isNow = state === "now";
  return (
    <Box
      as="li"
      aria-current={isNow ? "step" : undefined}
      bg="bg.panel"
      borderWidth="1px"
      borderColor={isNow ? "fairway.focusRing" : "border"}
      borderRadius="l3"
      px={{ base: "4", sm: "5" }}
      py="4"
    >
      <Flex align="center" gap="3">
        <Flex
          boxSize="7"
          flex="none"
          borderRadius="full"
          bg={isNow ? "fairway.solid" : "bg.muted"}
          color={isNow ? "fairway.contrast" : state === "done" ? "fg.success" : "fg.muted"}
          align="center"
          justify="center"
          textStyle="sm"
          fontWeight="semibold"
        >
          {state === "done" ? <Icon name="check" /> : props.number}
        </Flex>
        <Heading
          as="h2"
          textStyle="lg"
          fontWeight="semibold"
          flex="none"
          color={state === "later" ? "fg.muted" : "fg"}
          aria-label={state === "done" ? `${props.title}: ${props.doneLabel}` : undefined}
        >
          {props.title}
        </Heading>
        {state === "done" && props.summary !== undefined && (
          <Flex
            ms="auto"
            align="center"
            gap="3"
            textStyle="sm"
            color="fg.muted"
            minW="0"
            wrap="wrap"
            justify="flex-end"
          >
            {props.summary}
          </Flex>
        )}
      </Flex>
      {isNow && <Box mt="4">{props.children}</Box>}
    </Box>
  );
}
