import { Box, Heading, SimpleGrid, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";

/** A heading with figures, or with a sentence that says that there are none. */
export function Section(props: {
  readonly title: string;
  readonly empty: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <Box as="section" aria-label={props.title} mt="6">
      <Heading as="h2" textStyle="lg" fontWeight="semibold" mb="3">
        {props.title}
      </Heading>
      {props.empty === undefined ? (
        <SimpleGrid columns={{ base: 2, lg: 4 }} gap="3">
          {props.children}
        </SimpleGrid>
      ) : (
        <Text color="fg.muted">{props.empty}</Text>
      )}
    </Box>
  );
}
