import { Flex, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";

/** A number of the account with its label. */
export function Figure(props: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Flex direction="column">
      <Text textStyle="xs" color="fg.muted">
        {props.label}
      </Text>
      <Text fontWeight="semibold">{props.children}</Text>
    </Flex>
  );
}
