import { Box, Button, Flex, Heading, Spinner, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { problemText } from "./toaster.ts";
import { Icon, type IconName } from "../display/icon.tsx";
import { useTexts } from "../texts.ts";

/** An empty page that explains what belongs here and the next step. */
export function EmptyTeach(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly body: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <Flex
      direction="column"
      align="center"
      textAlign="center"
      gap="3"
      bg="bg.panel"
      borderWidth="1px"
      borderRadius="l3"
      px="6"
      py="14"
    >
      <Flex boxSize="12" borderRadius="full" bg="fairway.subtle" color="fairway.fg" align="center" justify="center">
        <Icon name={props.icon} size={24} />
      </Flex>
      <Heading as="h2" textStyle="lg" fontWeight="semibold">
        {props.title}
      </Heading>
      <Box color="fg.muted" maxW="34rem">
        {props.body}
      </Box>
      {props.children}
    </Flex>
  );
}

/** Shown if no row matches the filters. */
export function NoMatch(props: { onClear(): void }) {
  const t = useTexts();
  return (
    <EmptyTeach icon="filter" title={t("noMatch")} body={t("noMatchHint")}>
      <Button variant="outline" onClick={props.onClear}>
        {t("clearFilters")}
      </Button>
    </EmptyTeach>
  );
}

/** A part of a page whose data is loading. */
export function Loading() {
  const t = useTexts();
  return (
    <Flex role="status" aria-label={t("loading")} py="2">
      <Spinner />
    </Flex>
  );
}

/** A part of a page whose data failed to load. */
export function LoadFailed(props: { readonly problem: unknown; onRetry(): void }) {
  const t = useTexts();
  return (
    <Flex
      role="alert"
      direction="column"
      align="center"
      gap="3"
      bg="bg.panel"
      borderWidth="1px"
      borderRadius="l3"
      px="6"
      py="10"
    >
      <Heading as="h2" textStyle="lg" fontWeight="semibold">
        {t("failedTitle")}
      </Heading>
      <Text color="fg.muted" textAlign="center" overflowWrap="anywhere">
        {problemText(props.problem)}
      </Text>
      <Button variant="outline" onClick={props.onRetry}>
        <Icon name="refresh" />
        {t("retry")}
      </Button>
    </Flex>
  );
}
