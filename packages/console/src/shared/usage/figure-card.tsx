import { Box, Flex, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Sparkline } from "../../ui/chart/charts.tsx";
import type { SparklineProps } from "../../ui/chart/drawn/sparkline.tsx";

interface FigureCardProps {
  readonly label: string;
  readonly title?: string;
  /** Undefined while it is unknown. */
  readonly children: ReactNode;
  readonly note?: ReactNode;
  readonly trend?: SparklineProps;
  /** False for numbers without a trend: their card reserves no space for one. */
  readonly hasTrend?: boolean;
}

/** A number with its trend and a comparison. */
export function FigureCard(props: FigureCardProps) {
  return (
    <Flex
      direction="column"
      bg="bg.panel"
      borderWidth="1px"
      borderRadius="l3"
      px={{ base: "3", sm: "4" }}
      py="3"
      minW="0"
      title={props.title}
    >
      <Text textStyle="sm" color="fg.muted">
        {props.label}
      </Text>
      <Box textStyle={{ base: "lg", sm: "xl" }} fontWeight="semibold" minH="8" overflowWrap="anywhere">
        {props.children}
      </Box>
      <Text as="div" textStyle="xs" color="fg.muted" minH="5">
        {props.note}
      </Text>
      {(props.hasTrend ?? true) && (
        <Box mt="auto" pt="1" minH="34px">
          {props.trend && props.trend.values.length > 1 && <Sparkline {...props.trend} />}
        </Box>
      )}
    </Flex>
  );
}
