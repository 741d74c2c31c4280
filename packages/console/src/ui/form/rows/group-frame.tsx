import { Box, Flex, Text } from "@chakra-ui/react";
import { useId, type ReactNode } from "react";

/** Name, help and error of an editor that has several inputs, or that is not a native input. */
export function GroupFrame(props: {
  readonly label: string;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  /** Shown at the end of the label's line. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <Box role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-help`}>
      <Flex align="center" gap="2" mb="1.5">
        <Text as="span" id={`${id}-label`} textStyle="sm" fontWeight="medium" flex="1">
          {props.label}
        </Text>
        {props.aside}
      </Flex>
      {props.children}
      {props.error !== undefined && (
        <Text role="alert" textStyle="xs" color="fg.error" mt="1.5">
          {props.error}
        </Text>
      )}
      <Text id={`${id}-help`} textStyle="xs" color="fg.muted" mt="1.5">
        {props.help}
      </Text>
    </Box>
  );
}
