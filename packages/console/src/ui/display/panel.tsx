import { Box, Flex, Heading, Text } from "@chakra-ui/react";
import { Children, type ReactNode } from "react";
import { useShortened } from "./shortened.tsx";

interface PanelProps {
  readonly title: string;
  readonly link?: ReactNode;
  /** Replaces an empty list. */
  readonly empty: ReactNode;
  /** Undefined while it is unknown. */
  readonly count: number | undefined;
  /** Shows the first rows of a long list, and the others when asked. */
  readonly isShortened?: boolean;
  readonly children: ReactNode;
}

/** A titled list in a card. */
export function Panel(props: PanelProps) {
  const rows = Children.toArray(props.children);
  const { shown, more } = useShortened(rows, props.isShortened ? undefined : rows.length);
  return (
    <Box as="section" bg="bg.panel" borderWidth="1px" borderRadius="l3" minW="0">
      <Flex align="center" gap="3" px="4" py="2.5" borderBottomWidth="1px">
        <Heading as="h2" textStyle="md" fontWeight="semibold" flex="1">
          {props.title}
        </Heading>
        {props.link}
      </Flex>
      {props.count === undefined && <Box minH="14" />}
      {props.count === 0 && (
        <Text as="div" color="fg.muted" px="4" py="4" textStyle="sm">
          {props.empty}
        </Text>
      )}
      {props.count !== undefined && props.count > 0 && (
        <Box as="ul" listStyleType="none" {...(props.isShortened && { "aria-label": props.title })}>
          {shown}
        </Box>
      )}
      {more}
    </Box>
  );
}

/** One line of the panel. */
export function PanelRow(props: { readonly children: ReactNode }) {
  return (
    <Flex
      as="li"
      align="center"
      gap="3"
      rowGap="0.5"
      wrap="wrap"
      px="4"
      py="2"
      borderTopWidth="1px"
      borderColor="border.muted"
      textStyle="sm"
      _first={{ borderTopWidth: 0 }}
    >
      {props.children}
    </Flex>
  );
}
